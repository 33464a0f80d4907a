"""Every lesson and quiz that is found by name: its form, two runs of it, and what it leaves behind."""

import ast
import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinyattn import lesson, library, quiz, runner

FIGURES = Path(__file__).parents[1] / "figures"
SCRIPTS = {script.path.stem: script for script in library.lessons()}

lessons = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)


def test_each_lesson_has_a_number_of_its_own():
    assert sorted(path.stem for path in library.folder().glob("[0-9]*.py")) == list(SCRIPTS)


@lessons
def test_form(script):
    text = script.path.read_text(encoding="utf-8")
    assert text.startswith(f"# %% [markdown]\n# # {script.number:02d} ")
    cells = script.cells()
    code = [cell.source for cell in cells if not cell.is_text]
    assert "lesson = Lesson(__file__)" in code[0]
    assert sum("lesson.verdict(" in source for source in code) >= 1
    for cell in cells:
        if cell.is_text:
            lines = text.splitlines()[cell.line - 1 :][: cell.source.count("\n") + 1]
            assert all(line.startswith("#") for line in lines if line), f"line {cell.line}: text that is no comment"
    tree = ast.parse(text)
    imports = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imports |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name for name in imports if name.split(".")[0] in ("matplotlib", "torch", "cupy", "tests")}


@lessons
def test_quiz(script):
    questions = quiz.read(library.folder() / "quiz" / f"{script.number:02d}.toml")
    assert 4 <= len(questions) <= 6
    for question in questions:
        assert len(set(question.options)) == len(question.options)
        assert all(len(text.split()) > 2 for text in question.explanations)
    assert len({question.answer for question in questions}) > 1, "the answer is always the same letter"


def test_every_quiz_has_its_lesson():
    assert {int(path.stem) for path in library.quizzes()} <= {script.number for script in SCRIPTS.values()}


@lessons
def test_figures_are_committed(script):
    pictures = list(FIGURES.glob(f"{script.path.stem}*.png"))
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 300_000
        assert picture.with_suffix(".csv").exists()


def test_no_figure_without_its_lesson():
    stems = {path.stem for path in FIGURES.iterdir() if not path.name.startswith(".")}
    assert {stem for stem in stems if not stem.startswith(tuple(SCRIPTS))} == set()


@pytest.mark.slow
@lessons
def test_two_runs_agree(script, tmp_path):
    """Both at once, a core each: no warning, a verdict, and the same bytes except for what was timed."""
    clean = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    runs = [
        subprocess.Popen(
            [sys.executable, "-W", "error", str(script.path), "--figures", str(tmp_path / name)],
            cwd=tmp_path,
            env=clean | {"OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        for name in ("first", "second")
    ]
    printed = [run.communicate(timeout=400)[0] for run in runs]
    if runs[0].returncode == lesson.UNAVAILABLE:
        pytest.skip(printed[0].splitlines()[-1])
    assert [run.returncode for run in runs] == [0, 0], printed[0][-2000:]
    assert runner.VERDICT.search(printed[0]), "no verdict"
    made, again = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("first", "second")
    )
    assert set(made) == set(again)
    assert set(made) == {path.name for path in FIGURES.glob(f"{script.path.stem}*")}, "commit what the lesson writes"
    differ = {name for name in made if made[name] != again[name]}
    assert {name for name in differ if not name.split(".")[0].endswith("_timing")} == set()
    for name in made:
        if name.endswith(".csv"):
            header, *rows = csv.reader(made[name].decode().splitlines())
            assert rows
            assert all(len(row) == len(header) for row in rows)


@pytest.mark.slow
def test_stepping_gives_the_same_figures(tmp_path):
    """The first lesson cell by cell, against the same lesson as a script."""
    script = SCRIPTS[min(SCRIPTS)]
    whole = runner.run_lesson(script, ["--figures", str(tmp_path / "whole")])
    assert whole.code == 0, whole.printed
    call = [sys.executable, "-m", "tinyattn", "lessons", "1", "--step", "--figures", str(tmp_path / "stepped")]
    keys = "\n" * len(script.cells())
    done = subprocess.run(call, input=keys, capture_output=True, encoding="utf-8", check=True)
    for verdict, claim in whole.verdicts:
        assert f"{verdict}: {claim}" in done.stdout
    made, stepped = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("whole", "stepped")
    )
    assert made == stepped
