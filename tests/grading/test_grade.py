"""From a submission to a result: statuses, hints, prerequisites, hidden tests, the same bytes twice."""

import dataclasses
import json

import numpy as np
import pytest

from tinyattn import masks, scaled_dot_product_attention
from tinyattn.grading.grade import SUMMARY, Grader, plain
from tinyattn.grading.process import Limits


def results(assignment, source, **options):
    grader = Grader(assignment, source.encode() if isinstance(source, str) else source, **options)
    return {each.test.id: each for each in grader.grade()}, grader


def statuses(found, function):
    return {each.status for id, each in found.items() if id.startswith(f"{function}.")}


def test_the_reference_equals_the_engine(a1):
    """The reference is written for students; the engine is tested by its own oracles."""
    (question,) = [each for each in a1.questions if each.function == "attention"]
    for i in range(20):
        for case in a1.cases(question, b"engine %d" % i):
            query, key, value, *rest = case.call.args
            mask = rest[0] if rest else case.call.kwargs.get("mask")
            causal = rest[1] if rest else case.call.kwargs.get("is_causal", False)
            if causal:
                triangle = masks.causal_mask(query.shape[-2], key.shape[-2])
                mask = triangle if mask is None else mask & triangle
            output = scaled_dot_product_attention(query, key, value, attn_mask=mask).numpy()
            np.testing.assert_allclose(case.expected.value, output, rtol=0, atol=2e-5 if query.itemsize == 4 else 1e-12)


def test_points_add_up_to_a_hundred(a1):
    assert a1.hundredths == 100_00
    assert len({test.id for test in a1.tests}) == len(a1.tests) == 31


def test_one_bad_function_does_not_sink_the_rest(a1, right):
    found, _ = results(a1, right.replace("return query @ np.swapaxes(key, -1, -2)", "raise ZeroDivisionError"))
    assert statuses(found, "scores") == {"error"}
    assert statuses(found, "attention") == {"pass"}
    assert sum(each.hundredths for each in found.values()) == 85_00


def test_attention_may_lean_on_helpers_with_more_arguments(a1, right):
    """Its own functions come first: the reference's stand in only where a test fails."""
    source = right.replace("def scores(query, key):", "def scores(query, key, factor=1):").replace(
        "scores(query, key), query.shape[-1]", "scores(query, key, factor=1), query.shape[-1]"
    )
    found, _ = results(a1, source)
    assert statuses(found, "attention") == {"pass"}


def test_a_missing_function_and_a_wrong_arity(a1, right):
    found, _ = results(a1, right.replace("def weighted_sum(", "def weightedsum("))
    assert statuses(found, "weighted_sum") == {"missing"}
    assert statuses(found, "attention") == {"pass"}
    found, _ = results(a1, right.replace("def scores(query, key):", "def scores(query):"))
    assert statuses(found, "scores") == {"error"}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"def scores(query, key)\n    pass\n", "line 1: SyntaxError: expected ':'"),
        (b"x = 1\n\tif x:\n", "line 2: IndentationError: unexpected indent"),
        (b"x = '\xff\xfe'\n", "SyntaxError"),
        (b"x = '\x00'\n", "null bytes"),
        (b"import nunpy\n", "No module named 'nunpy' (NumPy and the standard library are at hand)"),
        (b"raise NotImplementedError\n", "line 1: NotImplementedError"),
    ],
)
def test_a_file_that_does_not_load_is_one_line(a1, source, problem):
    found, grader = results(a1, source)
    assert problem in grader.problem
    assert grader.problem.isprintable()
    assert {each.status for each in found.values()} == {"error"}
    assert {each.summary for each in found.values()} == {"the file could not be loaded"}


def test_hints_come_at_three_levels(a1, wrong):
    hints = {}
    for level in ("none", "question", "concept", "place"):
        found, _ = results(a1, wrong("softmax_over_queries"), level=level)
        hints[level] = found["masked_softmax.rows"].hint
    assert hints["none"] == ""
    assert hints["question"].endswith("?")
    assert "axis=-1" in hints["place"]
    assert len(set(hints.values())) == 4


def test_hidden_tests_show_a_category_and_a_hint_alone(a1):
    source = "import sys\n" + "".join(
        f"def {question.function}(*args, **kwargs):\n"
        "    print('SECRET', [getattr(x, 'tolist', str)() for x in args], file=sys.stderr)\n"
        "    raise ValueError('SECRET' + str(args))\n"
        for question in a1.questions
    )
    found, _ = results(a1, source)
    for each in found.values():
        assert each.status == "error"
        if each.test.public:
            assert "SECRET" in each.evidence
        else:
            assert each.evidence == ""
            assert each.summary == SUMMARY["error"]
            assert "SECRET" not in each.hint


def test_public_tests_show_input_expected_and_got(a1, wrong):
    found, _ = results(a1, wrong("scale_missing"))
    evidence = found["scale_scores.values"].evidence
    assert [line.split(":")[0] for line in evidence.splitlines() if ":" in line] == [
        "the result is wrong at 6 of 6 entries, first at [0, 0]",
        "input",
        "input",
        "expected",
        "got",
    ]


def test_the_first_wrong_step_is_named(a1, right):
    source = right.replace("scale_scores(scores(query, key), query.shape[-1])", "scale_scores(scores(query, key), 7.7)")
    found, _ = results(a1, source, level="place")
    assert "scale_scores is the first" in found["attention.values"].hint


IN_ONE_PIECE = """
def attention(query, key, value, mask=None, is_causal=False):
    table = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    if is_causal:
        causal = np.tri(*table.shape[-2:], dtype=bool)
        mask = causal if mask is None else mask & causal
    if mask is not None:
        table = np.where(mask, table, -1e9)
    weights = np.exp(table - np.max(table, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True) @ value
"""


def test_a_mistake_of_an_earlier_step_is_named_in_attention_written_in_one_piece(a1, right):
    found, _ = results(a1, right + IN_ONE_PIECE)
    assert found["attention.empty_rows"].mistake == "softmax_empty_row_uniform"
    found, _ = results(a1, right + IN_ONE_PIECE.replace("-1e9", "0"))
    assert found["attention.mask"].mistake == found["attention.causal"].mistake == "softmax_masked_score_zero"
    assert found["attention.values"].status == "pass"


def test_two_mistakes_at_once_are_named_where_each_shows_alone(a1, right):
    source = right.replace(
        "scores = np.where(mask, scores, -np.inf)", "scores = np.where(mask, -np.inf, scores)"
    ).replace("np.max(scores, axis=-1, keepdims=True)", "np.maximum(np.max(scores, axis=-1, keepdims=True), 0)")
    found, _ = results(a1, source)
    assert found["masked_softmax.mask"].mistake == "softmax_mask_inverted"
    assert found["masked_softmax.negative"].mistake == "softmax_maximum_at_least_zero"


def test_a_constant_factor_is_recognised(a1, right):
    found, _ = results(a1, right.replace("return weights @ value", "return 4 * (weights @ value)"), level="place")
    assert found["weighted_sum.batch"].hint == "Every entry should be 0.25 times what it is."


def test_hidden_inputs_follow_the_key_and_public_ones_do_not(a1):
    for question in a1.questions:
        one, other, again = (a1.cases(question, key) for key in (b"one", b"other", b"one"))
        for a, b, c in zip(one, other, again, strict=True):
            same = [np.array_equal(x, y) for x, y in zip(a.call.arrays(), b.call.arrays(), strict=True)]
            assert all(same) == a.test.public
            assert all(np.array_equal(x, y) for x, y in zip(a.call.arrays(), c.call.arrays(), strict=True))


def test_hard_coded_public_answers_pass_public_tests_alone(a1):
    lines = ["import numpy as np", "answers = {}"]
    for question in a1.questions:
        for case in a1.cases(question, b""):
            if case.test.public:
                shape = case.expected.value.shape
                values = case.expected.value.ravel().tolist()
                lines.append(f"answers[{question.function!r}, {len(case.call.kwargs)}] = np.reshape({values}, {shape})")
        lines.append(f"def {question.function}(*a, **k): return answers[{question.function!r}, len(k)].copy()")
    found, _ = results(a1, "\n".join(lines))
    for each in found.values():
        assert (each.status == "pass") == each.test.public, each.test.id


def test_answers_that_depend_on_the_call_before_do_not_score(a1, right):
    source = right.replace("def scores(query, key):", "last = [0]\ndef scores(query, key):\n    last[0] += 1").replace(
        "return query @ np.swapaxes(key, -1, -2)", "return query @ np.swapaxes(key, -1, -2) + (last[0] > 6)"
    )
    found, _ = results(a1, source)
    assert statuses(found, "scores") == {"not deterministic"}


def test_a_test_scores_when_it_passes_and_not_otherwise(a1):
    found, _ = results(a1, a1.text("stub.py"))
    assert {each.status for each in found.values()} == {"not attempted"}
    assert sum(each.hundredths for each in found.values()) == 0


def test_time_runs_out_for_each_question_alone(a1, right):
    quick = dataclasses.replace(a1, limits=Limits(call=0.5))
    found, _ = results(quick, right.replace("return scores / math.sqrt(d_k)", "while True: pass"))
    assert statuses(found, "scale_scores") == {"timeout"}
    assert sum(each.hundredths for each in found.values()) == 88_00


def test_text_of_students_becomes_one_printable_line():
    assert plain("a\n\x1b[31mb\u202ec\r\td" + "é" * 3) == "a \\x1b[31mb\\u202ec dééé"
    assert len(plain("x" * 1000)) == 200


def test_a_reference_that_fails_is_an_error_of_the_assignment(a1):
    broken = dataclasses.replace(a1)
    broken.__dict__["reference"] = a1.solution(
        a1.text("reference.py"), "def scores(query, key): raise ValueError('no')"
    )
    with pytest.raises(RuntimeError, match=r"the reference fails on scores\.values"):
        broken.cases(broken.questions[0], b"")


def test_two_gradings_give_the_same_bytes(a1, wrong, tinyattn, tmp_path):
    (tmp_path / a1.file).write_text(wrong("softmax_mask_afterwards"))
    first, second = (tinyattn("grade", tmp_path, "--format", "json")[1] for _ in range(2))
    assert first == second
    assert json.loads(first)["score"] == 78
