"""What the grading tests share: assignment a1, files made from it, the command line."""

import json

import pytest

from tinyattn import lesson
from tinyattn.grading import cli
from tinyattn.grading.assignment import load


@pytest.fixture(scope="session")
def a1():
    return load("a1")


@pytest.fixture(scope="session")
def right(a1):
    """A right answer to a1."""
    return a1.text("reference.py")


@pytest.fixture(scope="session")
def wrong(a1):
    """Right answers but for one named mistake: wrong("scale_missing")."""

    def source(name):
        return a1.text("reference.py") + "\n\n" + a1.text(f"wrong/{name}.py")

    return source


@pytest.fixture
def tinyattn(capsys):
    """Runs `tinyattn ARGUMENTS...` here: (exit code, standard output, standard error)."""

    def run(*arguments):
        parser = lesson.Parser(prog="tinyattn")
        cli.add_commands(parser.add_subparsers(required=True))
        try:
            options = parser.parse_args([str(each) for each in arguments])
            code = options.run(options)
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def grade(tinyattn):
    """The JSON result of `tinyattn grade ARGUMENTS...`."""

    def run(*arguments):
        code, out, err = tinyattn("grade", *arguments, "--format", "json")
        assert code == 0, err
        return json.loads(out)

    return run
