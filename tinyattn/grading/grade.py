"""One submission to one result. Only a test of the manifest that passes scores; any other end has its status."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tinyattn.grading import wire
from tinyattn.grading.assignment import Answer, Assignment, Case, Question, Test
from tinyattn.grading.compare import PASS, Verdict, compare, same
from tinyattn.grading.diagnose import Diagnosis, Seen, diagnose
from tinyattn.grading.process import Ended, Worker

REPLY_LIMIT = 1 << 24  # bytes of one result; as much again for its steps
DEATHS_ALLOWED = 2  # in one question; then its remaining tests are not run
OUTSIDE = {"tinyattn", "torch", "scipy", "jax", "cupy", "tensorflow", "autograd", "tinygrad", "pytest", "_pytest"}


@dataclass(frozen=True)
class TestResult:
    """What one test of the manifest came to. `evidence` is empty for hidden tests."""

    test: Test
    status: str
    summary: str
    evidence: str = ""
    misconception: str = ""
    hint: str = ""
    mistake: str = ""  # the name of the bank's entry

    __test__ = False

    @property
    def hundredths(self) -> int:
        """The points that it scores."""
        return self.test.hundredths if self.status == "pass" else 0


@dataclass
class Outcome:
    """One case, with what the student's function made of it."""

    case: Case
    verdict: Verdict
    answer: Answer | None = None
    printed: str = ""
    replied: bool = False


SUMMARY = {  # every status, in a student's words
    "pass": "right",
    "wrong": "the result has the right shape, but wrong values",
    "wrong shape": "the result has the wrong shape",
    "not finite": "the result has entries that are not finite numbers",
    "wrong type": "the result is not of the type asked for",
    "not attempted": "the function still raises NotImplementedError",
    "error": "the code raised an error",
    "timeout": "the code did not finish in time",
    "memory": "the code used more memory than it may",
    "crashed": "the code did not come back",
    "bad reply": "no usable answer came back",
    "missing": "nothing to run",
    "blocked": "the code tried something that the grader does not allow",
    "not deterministic": "two calls with the same inputs gave different results",
    "changed its inputs": "the function wrote into the arrays that it was given",
    "numerical gradient": "the gradient was estimated by running the function again and again",
}


def plain(text: str, limit: int = 200) -> str:
    """Text of a student's for a report: one line, printable characters only, so that it can neither draw nor break."""
    line = " ".join(text.split())
    kept = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return kept if len(kept) <= limit else kept[: limit - 3] + "..."


class Grader:
    """Grades one source against one assignment, a question at a time, and keeps what it has graded."""

    def __init__(self, assignment: Assignment, source: bytes, key: bytes = b"", level: str = "concept") -> None:
        self.assignment, self.source, self.key, self.level = assignment, source, key, level
        self.protections: list[str] = []
        self.unloadable: Verdict | None = None  # why the file does not load, once known
        self.done: dict[str, list[TestResult]] = {}
        if assignment.prepare is not None:
            try:
                self.source = assignment.prepare(source.decode("utf-8", "replace")).encode()
            except ValueError as error:
                self.unloadable = Verdict("error", plain(str(error)))

    @property
    def problem(self) -> str:
        """The one line for a file that does not load; else empty."""
        return self.unloadable.line if self.unloadable is not None else ""

    def grade(self) -> list[TestResult]:
        """The results of every test of the manifest, in its order."""
        return [result for question in self.assignment.questions for result in self.question(question)]

    def question(self, question: Question) -> list[TestResult]:
        """The results of a question's tests."""
        if question.function not in self.done:
            self.done[question.function] = self._question(question)
        return self.done[question.function]

    def _question(self, question: Question) -> list[TestResult]:
        outcomes, replaced = self.run(question, replace=False), False
        passed = {test.id for test in question.tests if _failure(outcomes, test) is None}
        if question.needs and len(passed) < len(question.tests) and self.unloadable is None:
            again, replaced = self.run(question, replace=True), True
            outcomes = [a if a.case.test.id in passed else b for a, b in zip(outcomes, again, strict=True)]
        causes: dict[str, Diagnosis] = {}
        if self.unloadable is None and any(_failure(outcomes, test) for test in question.tests):
            seen = [Seen(each.case, each.answer, each.verdict) for each in outcomes]
            trace = partial(self.trace, question, replaced=replaced)
            suspects = {result.mistake for results in self.done.values() for result in results}
            causes = diagnose(self.assignment, question, self.key, seen, trace, suspects)
        return [self.result(test, outcomes, causes.get(test.id, Diagnosis())) for test in question.tests]

    def run(self, question: Question, replace: bool) -> list[Outcome]:
        """Every case in order, public tests first; then those that were answered once more, in reverse."""
        cases = self.assignment.cases(question, self.key)
        outcomes: list[Outcome] = []
        deaths = 0
        while len(outcomes) < len(cases) and self.unloadable is None and deaths < DEATHS_ALLOWED:
            with self.worker(question, replace) as worker:
                first = len(outcomes)
                if self.load(worker):
                    while len(outcomes) < len(cases) and not (outcomes[first:] and not outcomes[-1].replied):
                        case = cases[len(outcomes)]
                        outcomes.append(self.ask(worker, question, case))
                    deaths += not outcomes[-1].replied
                    self.repeat(worker, question, outcomes[first:])
        stop = self.unloadable
        if stop is None and len(outcomes) < len(cases):
            stop = Verdict(outcomes[-1].verdict.status, f"not run, after {deaths} times: {outcomes[-1].verdict.line}")
        return outcomes + [Outcome(case, stop) for case in cases[len(outcomes) :] if stop is not None]

    def worker(self, question: Question, replace: bool) -> Worker:
        """A worker for one question; with `replace`, the reference stands in for the functions that it needs."""
        assignment = self.assignment
        setup = {
            "file": assignment.file,
            "source": self.source.decode("latin-1"),
            "given": assignment.given,
            "replace": list(question.needs) if replace else [],
            "reference": assignment.text("reference.py") if replace else "",
            "harness": assignment.text("harness.py"),
            "meter": assignment.meter,
            "reply_limit": REPLY_LIMIT,
        }
        policy = assignment.policy() if callable(assignment.policy) else assignment.policy
        return Worker(setup, assignment.limits, policy)

    def load(self, worker: Worker) -> bool:
        """Loads the student's file; if that fails, no test can be run, and `unloadable` says why."""
        reply = worker.load()
        self.protections = worker.protections or self.protections
        if isinstance(reply, Ended):
            self.unloadable = Verdict(reply.status, f"while loading the file: {reply.line}")
        elif "raised" in reply:
            verdict = _raised(reply)
            self.unloadable = Verdict("error" if verdict.status == "not attempted" else verdict.status, verdict.line)
        elif reply.get("loaded") is not True:
            self.unloadable = Verdict("bad reply", "the worker did not say that it loaded the file")
        return self.unloadable is None

    def ask(self, worker: Worker, question: Question, case: Case) -> Outcome:
        """One call, judged. What the code prints is kept for public tests, which come before any hidden input."""
        test, call = case.test, case.call
        worker.text.take()
        before = worker.peak_memory() if test.memory is not None else None
        reply = worker.call(
            question.function, call.args, call.kwargs, reply_limit=2 * REPLY_LIMIT, seconds=test.seconds
        )
        if isinstance(reply, Ended):
            return Outcome(case, Verdict(reply.status, reply.line))
        header, arrays = reply
        printed = plain(worker.text.take().decode("utf-8", "replace"), 400) if test.public else ""
        if "raised" in header:
            names, message = header["raised"], header.get("message")
            raised = (str(names[0]) if isinstance(names, list) and names else "", str(message))
            return Outcome(case, _raised(header), Answer(raised=raised), printed, replied=True)
        if "missing" in header:
            verdict = Verdict("missing", f"the file has no function named {question.function}")
            return Outcome(case, verdict, printed=printed, replied=True)
        try:
            value = wire.decode(header.get("value"), arrays)
        except (wire.BadFrame, RecursionError) as error:
            return Outcome(case, Verdict("bad reply", f"the worker sent {error}"), replied=True)
        verdict = compare(case.expected.value, value, case.relative, case.width)
        if verdict.passed and before is not None:
            verdict = _memory(worker.peak_memory(), before, test)
        if verdict.status in ("pass", "wrong") and test.counts:  # a rough estimate is an estimate all the same
            counted = _counts(header.get("counts"), case)
            verdict = verdict if counted.passed else counted
        if header["changed"] and verdict.status in ("pass", "wrong"):
            verdict = Verdict("changed its inputs", "an input array holds other values after the call")
        return Outcome(case, verdict, Answer(value, changed=header["changed"]), printed, replied=True)

    def repeat(self, worker: Worker, question: Question, outcomes: Sequence[Outcome]) -> None:
        """Asks everything again in reverse: an answer that depends on time, chance or earlier calls is none."""
        for outcome in reversed(outcomes):
            if not outcome.replied:
                return
            if outcome.case.test.memory is None:
                second = self.ask(worker, question, outcome.case)
                if not _agree(outcome, second):
                    outcome.verdict = Verdict("not deterministic", "the same inputs gave two different results")
                if not second.replied:
                    return

    def trace(self, question: Question, case: Case, replaced: bool) -> list[tuple[str, Any]]:
        """What the student's functions named in `question.trace` returned during one call, in a fresh worker."""
        with self.worker(question, replaced) as worker:
            if isinstance(reply := worker.load(), Ended) or reply.get("loaded") is not True:
                return []
            call = case.call
            answer = worker.call(question.function, call.args, call.kwargs, question.trace, 2 * REPLY_LIMIT)
            if isinstance(answer, Ended):
                return []
            header, arrays = answer
            try:
                return [(str(name), wire.decode(tree, arrays)) for name, tree in header.get("steps", [])]
            except (wire.BadFrame, ValueError, TypeError):
                return []

    def result(self, test: Test, outcomes: Sequence[Outcome], cause: Diagnosis) -> TestResult:
        """What is reported of a test: for hidden ones the category and the hint only."""
        if (worst := _failure(outcomes, test)) is None:
            return TestResult(test, "pass", SUMMARY["pass"])
        status, line = worst.verdict.status, worst.verdict.line
        if self.unloadable is not None:
            return TestResult(test, status, "the file could not be loaded")
        # How a program ended is about the program, not about a test's inputs.
        summary = f"{SUMMARY[status]}: {line}" if status in ("missing", "timeout", "crashed") else SUMMARY[status]
        evidence = show(worst) if test.public else ""
        return TestResult(test, status, summary, evidence, cause.misconception, cause.hint(self.level), cause.mistake)


def _agree(first: Outcome, second: Outcome) -> bool:
    """Whether two calls with the same inputs came to the same, within rounding."""
    a, b = first.answer, second.answer
    if first.verdict.status != second.verdict.status or a is None or b is None:
        return first.verdict.status == second.verdict.status
    kinds = (a.raised and a.raised[0]) == (b.raised and b.raised[0])
    return kinds and (a.raised is not None or same(a.value, b.value, first.case.relative, first.case.width))


def _failure(outcomes: Sequence[Outcome], test: Test) -> Outcome | None:
    """The first case of a test that did not pass; a test that has no case at all has failed too, loudly."""
    mine = [each for each in outcomes if each.case.test.id == test.id]
    if not mine:
        raise ValueError(f"test {test.id} has no probe")
    return next((each for each in mine if each.verdict != PASS), None)


def _raised(header: dict[str, Any]) -> Verdict:
    """The status that goes with an exception in student code."""
    names = [str(name) for name in header["raised"]] if isinstance(header["raised"], list) else []
    kind, message, line = names[0] if names else "exception", plain(str(header.get("message"))), header.get("line")
    where = f"line {line}: " if isinstance(line, int) else ""
    text = f"{where}{plain(kind, 80)}" + (f": {message}" if message else "")
    if "NotImplementedError" in names:
        return Verdict("not attempted", text)
    if "MemoryError" in names:
        return Verdict("memory", text)
    if "OSError" in names or str(header.get("module")).split(".")[0] in OUTSIDE:
        return Verdict("blocked", text)
    if "ImportError" in names:
        return Verdict("error", f"{text} (NumPy and the standard library are at hand)")
    if "SystemExit" in names:
        return Verdict("error", f"{where}the code called sys.exit")
    return Verdict("error", text)


def _memory(after: int | None, before: int, test: Test) -> Verdict:
    if after is None or test.memory is None or after - before <= test.memory:
        return PASS
    used, may = (after - before) / 2**20, test.memory / 2**20
    return Verdict("memory", f"the call needed {used:.0f} MiB; it may need {may:.0f} MiB")


def _counts(counts: Any, case: Case) -> Verdict:
    for name, bound in case.test.counts.items():
        count, most = counts.get(name) if isinstance(counts, dict) else None, bound(case.call)
        if not isinstance(count, int) or count > most:
            return Verdict("numerical gradient", f"{name} was counted {count} times; {most} are enough")
    return PASS


def show(outcome: Outcome) -> str:
    """The evidence for a public test: the input, what was expected, what came, all of it small."""
    call, answer = outcome.case.call, outcome.answer
    if outcome.verdict.status in ("not attempted", "missing"):
        return ""
    lines = [outcome.verdict.line] if outcome.replied else []
    lines += [_labelled("input", each) for each in call.args]
    lines += [_labelled(name, each) for name, each in call.kwargs.items()]
    if answer is not None:
        lines.append(_labelled("expected", outcome.case.expected.value))
        lines += [_labelled("got", answer.value)] if answer.raised is None else []
    if outcome.printed:
        lines.append(f"printed: {outcome.printed}")
    return "\n".join(lines)


def _labelled(label: str, value: Any) -> str:
    return f"{label}: " + small(value).replace("\n", "\n" + " " * (len(label) + 2))


def small(value: Any) -> str:
    """A value on few lines."""
    if isinstance(value, np.ndarray):
        if value.size > 24:
            return f"array of shape {value.shape}, {value.dtype}"
        return np.array2string(value, precision=4, suppress_small=False, max_line_width=100)
    if isinstance(value, tuple | list):
        return ", ".join(small(each) for each in value)
    return plain(str(value) if not isinstance(value, wire.Odd) else f"something of type {value.type}", 100)
