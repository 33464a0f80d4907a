"""The README keeps its word: its commands, its printed answers, its map of the files."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from tinyattn import cli, emulator

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = [block.strip() for block in re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)]
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
MAP = re.search(r"^```text\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_a_newcomer_needs_two_commands():
    lessons, tests = SHELL[:2]
    for command in (lessons, tests):
        assert "\n" not in command
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert lessons.endswith("tinyattn lessons")
    assert '".[test]"' in tests
    assert "/pytest" in tests


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_printed_answers(number):
    """Each print says beside it what it prints."""
    if "emulated" in PYTHON[number] and not emulator.available()[0]:
        pytest.skip(emulator.available()[1])
    code = "\n".join(PYTHON[: number + 1])  # a block goes on from the blocks before it
    answers = re.findall(r"^print\(.*?\)\s+# (.*)$", code, re.MULTILINE)
    assert len(answers) == code.count("print(") > 0
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().splitlines() == answers


def test_the_tour_is_short():
    assert len([line for line in PYTHON[0].splitlines() if line]) <= 25


def test_commands_are_understood():
    lines = [line for block in SHELL for line in block.splitlines()]
    calls = [line.split("/bin/tinyattn ")[1] for line in lines if "/bin/tinyattn " in line]
    assert calls
    parser = cli._parser()
    for call in calls:
        parser.parse_args(shlex.split(call))


def test_the_map_shows_every_module():
    assert MAP
    shown = set()
    folder = ""
    for line in MAP[1].splitlines():
        names = re.match(r" *(\S+(?: \S+)*)(?:  |$)", line)
        assert names
        if not line.startswith(" "):
            folder = names[1].split()[0]
        for name in names[1].split():
            path = ROOT / name if not line.startswith(" ") else ROOT / folder / name
            assert path.exists(), f"the map names {name}"
            shown.add(path)
    modules = {
        path for path in (ROOT / "tinyattn").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {path.name for path in modules - shown} <= {"__init__.py", "__main__.py"}


def test_files_that_are_named_exist():
    named = re.findall(r"\]\(([^)]+)\)|`((?:lessons|figures|tests|tinyattn)/[^` ]*)`", README)
    assert named
    for link, path in named:
        assert (ROOT / (link or path)).exists(), link or path
