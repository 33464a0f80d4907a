"""Why an answer is wrong: the named mistake with the same wrong results, else the step or the pattern it shows."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinyattn.grading.assignment import Answer, Answers, Assignment, Case, Question
from tinyattn.grading.compare import Verdict, allowed, compare, same

GENERIC = {
    "wrong": "Work a public example out by hand, and print the shape and the row sums after every step.",
    "wrong shape": "Write each array's shape beside the line that makes it; which axis is summed, which one stays?",
    "not finite": "Which operation can give inf or NaN here: exp of a large number, inf - inf, or 0 / 0?",
    "wrong type": "Look at the return statement: is there one, and does it give an array of the inputs' dtype?",
    "memory": "Which array grows with the product of two lengths? Is all of it needed at once?",
    "timeout": "Is there a loop that may never end?",
    "changed its inputs": "Which line writes into an argument (x *= ..., x[...] = ...)? Make a new array instead.",
    "not deterministic": "The result may depend on the arguments only: not on chance, time or earlier calls.",
    "missing": "Keep the names and the arguments of the functions in the stub.",
    "blocked": "Only NumPy and the standard library are at hand, and no files, programs or network.",
    "numerical gradient": "Derive the gradient and write it as array operations; finite differences only check it.",
}  # fmt: skip


@dataclass(frozen=True)
class Diagnosis:
    """What a student is told about the cause, at three levels."""

    misconception: str = ""
    mistake: str = ""
    hints: dict[str, str] = field(default_factory=dict)

    def hint(self, level: str) -> str:
        return self.hints.get(level, "")


@dataclass(frozen=True)
class Seen:
    """A case with the student's answer, if one came, and its verdict."""

    case: Case
    answer: Answer | None
    verdict: Verdict


def diagnose(
    assignment: Assignment,
    question: Question,
    key: bytes,
    seen: Sequence[Seen],
    trace: Callable[[Case], list[tuple[str, Any]]],
    suspects: Set[str] = frozenset(),
) -> dict[str, Diagnosis]:
    """For each failed test of a question, by id, what is known of the cause. `seen` follows the order of the cases.

    Where several mistakes explain a failure, the `suspects`, named in earlier questions, come first.
    """
    failed = [each for each in seen if not each.verdict.passed]
    found: dict[str, Diagnosis] = {}
    ids, lost = {test.id for test in question.tests}, {each.case.test.id for each in failed}
    bank = sorted(
        assignment.mistaken(question, key),
        key=lambda each: (each[0].name not in suspects, each[0].predicted(assignment) & ids != lost),
    )
    # Somebody who writes a question in one piece may make a mistake in it that belongs to an earlier one.
    elsewhere = assignment.mistaken(question, key, here=False)
    everywhere = next(_matches([*bank, *elsewhere], seen, range(len(seen))), None)
    by_status = _by_status(assignment, question, failed)
    step: Diagnosis | None = None
    for test in dict.fromkeys(each.case.test for each in failed):
        of_test = [i for i, each in enumerate(seen) if each.case.test is test]
        worst = next(seen[i] for i in of_test if not seen[i].verdict.passed)
        # Two mistakes at once equal no single one everywhere; a test on which just one fits still says which.
        known = by_status.get(worst.verdict.status) or everywhere
        candidates = [known] if known else list(_matches(bank, seen, of_test))
        if len(candidates) == 1:
            found[test.id] = candidates[0]
            continue
        if worst.verdict.status in ("wrong", "not finite", "wrong shape"):
            if step is None:
                step = _first_step(assignment, question, worst.case, trace) or Diagnosis()
            hint = step.hint("place") or _pattern(question, worst) or GENERIC.get(worst.verdict.status, "")
        else:
            hint = GENERIC.get(worst.verdict.status, "")
        found[test.id] = Diagnosis(hints=dict.fromkeys(("question", "concept", "place"), hint))
    return found


def _by_status(assignment: Assignment, question: Question, failed: Sequence[Seen]) -> dict[str, Diagnosis]:
    """For each status by which a mistake of the bank is known, the one that loses these tests, or else the first."""
    ids, found = {test.id for test in question.tests}, {}
    for status in {each.verdict.status for each in failed}:
        lost = {each.case.test.id for each in failed if each.verdict.status == status}
        mistakes = [each for each in assignment.bank if each.status == status and ids & each.predicted(assignment)]
        for mistake in sorted(mistakes, key=lambda each: ids & each.predicted(assignment) != lost)[:1]:
            found[status] = Diagnosis(mistake.misconception, mistake.name, mistake.hints)
    return found


def _matches(bank: list[tuple[Any, Answers]], seen: Sequence[Seen], where: Sequence[int]) -> Iterator[Diagnosis]:
    """The mistakes whose answers equal the student's at every answered case of `where`, a wrong one among them.

    Where the student's code ran out of memory or time, the bank's is not run: it might do so here.
    """
    answered = [i for i in where if seen[i].answer is not None and seen[i].verdict.status not in ("memory", "timeout")]
    failed = [i for i in answered if not seen[i].verdict.passed]
    for mistake, answers in bank:
        if all(_equal(seen[i].answer, answers[i], seen[i].case) for i in answered) and not all(
            _equal(seen[i].case.expected, answers[i], seen[i].case) for i in failed
        ):
            yield Diagnosis(mistake.misconception, mistake.name, mistake.hints)


def _equal(student: Answer | None, other: Answer, case: Case) -> bool:
    if student is None or student.changed != other.changed or student.raised != other.raised:
        return False
    return student.raised is not None or same(student.value, other.value, case.relative, case.width)


def _first_step(
    assignment: Assignment, question: Question, case: Case, trace: Callable[[Case], list[tuple[str, Any]]]
) -> Diagnosis | None:
    """The first of the question's steps at which the student's values leave the reference's."""
    if not question.trace:
        return None
    fresh = assignment.solution(assignment.text("reference.py"))  # its functions are replaced while it is watched
    ours = dict(reversed(fresh.steps(question.function, case.call, question.trace)))
    theirs = dict(reversed(trace(case)))
    right: list[str] = []
    for name in question.trace:
        if name not in theirs or name not in ours:
            continue
        if not compare(ours[name], theirs[name], case.relative).passed:
            before = f"The results of {', '.join(right)} are right; that" if right else "The result"
            text = f"{before} of {name} is the first that is not: look at what it is called with."
            return Diagnosis(hints={"place": text})
        right.append(name)
    if len(right) == len(question.trace):
        return Diagnosis(hints={"place": f"Every step is right ({', '.join(right)}); the fault comes after the last."})
    return None


def _pattern(question: Question, seen: Seen) -> str:
    """What a wrong result has in common with the right one."""
    if seen.answer is None or seen.verdict.status != "wrong":
        return ""
    ours, theirs = seen.case.expected.value, seen.answer.value
    if isinstance(ours, tuple | list):
        pairs = zip(ours, theirs, strict=True)
        ours, theirs = next((a, b) for a, b in pairs if not compare(a, b, seen.case.relative).passed)
    if not isinstance(ours, np.ndarray) or not isinstance(theirs, np.ndarray) or theirs.dtype.kind != "f":
        return ""
    if question.gradient:
        from tinyattn.gradcheck import recognise

        return recognise(theirs, ours) or ""
    return _resemblance(ours, theirs, seen.case.relative)


def _resemblance(ours: np.ndarray, theirs: np.ndarray, relative: float) -> str:
    """How two arrays of one shape are alike, in a sentence; empty if in no way known here."""

    def alike(other: np.ndarray) -> bool:
        return compare(ours, other, relative).passed

    if ours.ndim >= 2 and ours.shape[-1] == ours.shape[-2] and alike(np.swapaxes(theirs, -1, -2)):
        return "The result is the transpose of what it should be."
    size = float(np.sum(theirs * theirs))
    factor = float(np.sum(theirs * ours)) / size if size > 0 else 0.0
    if abs(factor) > 0 and alike(theirs * factor):
        digits = 6 if abs(factor - 1) > 1e-4 else 12
        return f"Every entry should be {factor:.{digits}g} times what it is."
    if ours.ndim >= 1 and np.all(ours >= 0):
        sums, total = np.sum(ours, axis=-1), np.sum(theirs, axis=-1)
        if np.allclose(sums[sums != 0], 1) and not np.allclose(total, sums):
            return "Each row should add up to 1, or to 0 where no key may be seen; yours do not."
    if ours.ndim >= 2:
        rows = np.all(np.abs(ours - theirs) <= allowed(ours, relative), axis=-1)
        if np.any(rows) and not np.all(rows):
            return "Some rows are right and others are not: what sets them apart?"
    return ""
