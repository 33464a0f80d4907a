"""Where the lessons lie and how they read: scripts in `# %%` cells, found by name."""

import re
from dataclasses import dataclass
from pathlib import Path

from tinyattn.lesson import stop


@dataclass(frozen=True)
class Cell:
    """One cell of a script: text in Markdown or Python code, and the line of the file where it begins."""

    is_text: bool
    source: str
    line: int


@dataclass(frozen=True)
class Script:
    """A lesson: lessons/NN_name.py."""

    number: int
    path: Path

    def __str__(self):
        """Number and title, from the first heading `# # NN Title`."""
        heading = re.search(r"^# # (.+)$", self.path.read_text(encoding="utf-8"), re.MULTILINE)
        return heading[1] if heading else self.path.stem.replace("_", " ")

    def cells(self):
        """The script's cells in order; those that hold nothing are left out."""
        text = self.path.read_text(encoding="utf-8")
        markers = list(re.finditer(r"^# %%(.*)\n?", text, re.MULTILINE))
        bounds = [marker.start() for marker in markers[1:]] + [len(text)]
        cells = []
        for marker, end in zip(markers, bounds, strict=True):
            is_text = "[markdown]" in marker[1]
            source = text[marker.end() : end].rstrip()
            if is_text:
                source = re.sub(r"^# ?", "", source, flags=re.MULTILINE)
            if source:
                cells.append(Cell(is_text, source, text.count("\n", 0, marker.end()) + 1))
        return cells


def folder():
    """lessons/ of the clone, or of the installed package, which carries a copy."""
    package = Path(__file__).parent
    places = [package / "lessons", package.parent / "lessons"]
    return next((place for place in places if place.is_dir()), places[0])


def lessons(numbers=()):
    """The lessons with these numbers, all by default."""
    found = {int(path.name[:2]): path for path in sorted(folder().glob("[0-9][0-9]_*.py"))}
    return [Script(number, found[number]) for number in _known("lesson", numbers, found)]


def quizzes(numbers=()):
    """The quiz files lessons/quiz/NN.toml of the lessons with these numbers, all by default."""
    found = {int(path.stem): path for path in sorted((folder() / "quiz").glob("[0-9][0-9].toml"))}
    return [found[number] for number in _known("quiz", numbers, found)]


def _known(what, numbers, found):
    """The numbers that were asked for, or all; stops at one that does not exist."""
    if not found:
        stop(f"there is no {what} in {folder()}: install tinyattn anew")
    for number in numbers:
        if number not in found:
            stop(f"there is no {what} {number}: choose from {', '.join(map(str, found))}")
    return numbers or list(found)
