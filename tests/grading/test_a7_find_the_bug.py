"""Assignment a7: every program has one fault, which shows; only the right line at the right place scores."""

import runpy

import numpy as np
import pytest

from tinyattn import masks, scaled_dot_product_attention
from tinyattn.grading.assignment import load
from tinyattn.grading.compare import compare
from tinyattn.grading.grade import Grader


@pytest.fixture(scope="module")
def a7():
    return load("a7")


@pytest.fixture(scope="module")
def probes(a7):
    return runpy.run_path(str(a7.folder / "probes.py"))


def handed_in(number, line, corrected):
    return f"NUMBER = {number}\nLINE = {line}\nCORRECTED = {corrected!r}\n"


def passes(a7, source):
    """Which of the two tests an answer passes; without workers."""
    solution = a7.solution(source)
    found = set()
    for question in a7.questions:
        cases = a7.cases(question, b"programs")
        answers = [solution.answer(question.function, case.call) for case in cases]
        right = (
            compare(case.expected.value, each.value, 1e-8).passed for case, each in zip(cases, answers, strict=True)
        )
        if all(right) and not any(each.raised or each.changed for each in answers):
            found.add(question.function)
    return found


def spellings(probes, number):
    """The right spellings of a program's wrong line, and the wrong ones."""
    _, wrong = probes["fault"](number)
    (name,) = [name for name, lines in probes["SUSPECT"]["SPELLINGS"].items() if wrong in lines]
    lines = probes["SUSPECT"]["SPELLINGS"][name]
    right = [lines[i] for i in probes["RIGHT"][name]]
    return right, [line for line in lines if line not in right]


def test_the_reference_equals_the_engine(a7):
    (question,) = [each for each in a7.questions if each.function == "repair"]
    for case in a7.cases(question, b"engine"):
        heads, mask = case.call.args[3], case.call.kwargs.get("mask")
        query, key, value = (np.moveaxis(each.reshape(*each.shape[:2], heads, -1), 2, 1) for each in case.call.args[:3])
        if case.call.kwargs.get("is_causal"):
            triangle = masks.causal_mask(query.shape[-2], key.shape[-2])
            mask = triangle if mask is None else mask & triangle
        output = np.moveaxis(scaled_dot_product_attention(query, key, value, attn_mask=mask).numpy(), 1, 2)
        np.testing.assert_allclose(case.expected.value, output.reshape(*output.shape[:2], -1), rtol=0, atol=1e-9)


def test_every_program_has_one_fault_that_shows(a7, probes):
    count = len(probes["SUSPECT"]["PROGRAMS"])
    faults = [probes["fault"](number)[1] for number in range(count)]
    assert count >= 100
    assert len(set(faults)) >= 50
    assert all(faults[i] != faults[i + 1] for i in range(count - 1))
    for number in {fault: i for i, fault in enumerate(faults)}.values():
        line, _ = probes["fault"](number)
        right, others = spellings(probes, number)
        for corrected in right:
            assert passes(a7, handed_in(number, line, corrected)) == {"place", "repair"}, (number, corrected)
        for corrected in others:
            assert passes(a7, handed_in(number, line, corrected)) == {"place"}, (number, corrected)


def test_the_right_line_at_another_place_is_not_enough(a7, probes):
    line, _ = probes["fault"](5)
    right, _ = spellings(probes, 5)
    for other in (line - 1, line + 7):
        assert passes(a7, handed_in(5, other, right[0])) == set()


def test_numbers_go_round(a7, probes):
    line, _ = probes["fault"](5)
    assert passes(a7, handed_in(5 + 100 * 12345, line, "return weights / total")) == {"place", "repair"}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("NUMBER = 5\nLINE = 40\n", "the file should have a line CORRECTED = ..., with a value of type str"),
        (
            "NUMBER = '5'\nLINE = 40\nCORRECTED = ''\n",
            "the file should have a line NUMBER = ..., with a value of type int",
        ),
        ("NUMBER = True\nLINE = 40\nCORRECTED = ''\n", "the file should have a line NUMBER"),
        ("NUMBER = len('x')\nLINE = 40\nCORRECTED = ''\n", "NUMBER should be a plain value on one line"),
        ("NUMBER = " + "(" * 250 + "\nLINE = 40\nCORRECTED = ''\n", "NUMBER should be a plain value on one line"),
        (handed_in(5, 99, "return weights"), "LINE is 99; program 5 has the lines 1 to 51"),
        (handed_in(5, -1, "return weights"), "LINE is -1; program 5 has the lines 1 to 51"),
        (handed_in(5, 31, "return weights"), "line 31 of program 5 is no assignment and no return"),
        (handed_in(5, 40, "return weights / total; x = 1"), "CORRECTED should be one assignment or return"),
        (handed_in(5, 40, "return weights / total\nx = 1"), "CORRECTED should be one assignment or return"),
        (handed_in(5, 40, "import os"), "CORRECTED should be one assignment or return"),
        (handed_in(5, 40, "return ("), "CORRECTED should be one assignment or return"),
        (handed_in(5, 40, "return " + "weights + " * 20 + "weights"), "CORRECTED should be one assignment or return"),
        (handed_in(5, 40, "return eval('weights')"), "CORRECTED should use the program's own names"),
        (handed_in(5, 40, "return weights.__class__"), "CORRECTED should use the program's own names"),
        (handed_in(5, 40, "PLACE = 1"), "CORRECTED should use the program's own names"),
        ("", "the file should have a line NUMBER"),
    ],
)
def test_odd_answers_get_one_clear_line(a7, source, problem):
    grader = Grader(a7, source.encode())
    assert {each.status for each in grader.grade()} == {"error"}
    assert grader.problem.startswith(problem)


def test_what_is_handed_in_is_not_run(a7):
    source = a7.text("reference.py") + "\nraise SystemExit('run')\ndef place(): return 'the line of the fault'\n"
    assert [each.status for each in Grader(a7, source.encode()).grade()] == ["pass", "pass"]
