"""Asks a lesson's questions in the terminal, and explains every answer, the wrong ones too."""

import textwrap
import tomllib
from dataclasses import dataclass
from string import ascii_lowercase

from tinyattn.lesson import stop


@dataclass(frozen=True)
class Question:
    """A question, its options, the index of the right one, and for each option why it is right or wrong."""

    prompt: str
    options: list[str]
    answer: int
    explanations: list[str]


def read(path):
    """The questions of a quiz file; ValueError says what is wrong with it."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["question"]
        questions = [Question(**entry) for entry in entries]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is no list of questions: {error}") from None
    for n, question in enumerate(questions, 1):
        sizes = len(question.options), len(question.explanations)
        if sizes[0] < 2 or sizes[0] != sizes[1] or question.answer not in range(sizes[0]):
            raise ValueError(
                f"question {n} of {path.name} needs two or more options, an explanation for each and the answer among "
                f"them, got {sizes[0]} options, {sizes[1]} explanations, answer {question.answer}"
            )
    return questions


def ask(paths):
    """Asks the questions of these files in order until they end, or the reader answers q; prints the score."""
    try:
        questions = [question for path in paths for question in read(path)]
    except ValueError as error:
        stop(str(error))
    right = asked = 0
    for question in questions:
        print()
        print(_wrapped(f"{asked + 1}/{len(questions)}  ", question.prompt))
        letters = ascii_lowercase[: len(question.options)]
        for letter, option in zip(letters, question.options, strict=True):
            print(_wrapped(f"  {letter}  ", option))
        given = _answer(letters)
        if given is None:
            break
        asked += 1
        right += given == question.answer
        print("\nRight." if given == question.answer else f"\nNo, it is {letters[question.answer]}.")
        for letter, explanation in zip(letters, question.explanations, strict=True):
            mark = "+" if letter == letters[question.answer] else "-"
            print(_wrapped(f"{mark} {letter}  ", explanation))
    print(f"\n{right} of {asked} right")


def _answer(letters):
    """The index of the letter that the reader types; None for q or where there is no more input."""
    while True:
        try:
            given = input(f"[{'/'.join(letters)}, q quits] ").strip().lower()
        except EOFError:
            return None
        if given == "q":
            return None
        if given in list(letters):
            return letters.index(given)
        print(f"One of {', '.join(letters)}, or q, please.")


def _wrapped(start, text):
    """The text after `start`, its further lines indented to match."""
    return textwrap.fill(" ".join(text.split()), 96, initial_indent=start, subsequent_indent=" " * len(start))
