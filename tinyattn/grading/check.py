"""The proof that an assignment grades as it says: honest answers pass, wrong ones are named, attacks fail."""

import contextlib
import dataclasses
import os
import textwrap
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinyattn.grading.assignment import Answer, Answers, Assignment, Case
from tinyattn.grading.compare import compare
from tinyattn.grading.grade import Grader, TestResult
from tinyattn.grading.process import Nursery
from tinyattn.grading.sandbox import adopt_orphans

ATTACKS = Path(__file__).with_name("attacks.toml")
WRONG = "\n\ndef {0}(*args, **kwargs):\n    import numpy\n    return numpy.zeros((3, 1, 4, 1, 5))\n"


@dataclass
class Proof:
    """What held and what did not."""

    assignment: str
    lines: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Attack:
    """One entry of attacks.toml."""

    id: str
    about: str
    where: str
    status: str
    code: str

    def source(self, assignment: Assignment, function: str) -> str:
        """The file that a student hands in: the attack in `function`, or at the top of a file that is all wrong."""
        right = assignment.text("reference.py")
        if self.where == "call":
            body = textwrap.indent(self.code.strip("\n"), "    ")
            return f"{right}\n\ndef {function}(*args, **kwargs):\n{body}\n    import numpy\n    return numpy.zeros(3)\n"
        wrong = "".join(WRONG.format(question.function) for question in assignment.questions)
        return f"{self.code}\n{wrong}"


def attacks() -> list[Attack]:
    """Every attack, in order."""
    with ATTACKS.open("rb") as file:
        listed = tomllib.load(file)["attack"]
    for each in listed:
        if "code_repeat" in each:
            text, times = each.pop("code_repeat")
            each["code"] = text * times
    return [Attack(**each) for each in listed]


def in_parallel(jobs: int, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """The results in order; workers are processes, so threads are enough to wait for them."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(work, items)


def check(assignment: Assignment, jobs: int = 2, key: bytes = b"proof") -> Proof:
    """The proof for one assignment: its honest solutions, its stub, its bank."""
    started, proof = time.monotonic(), Proof(assignment.name)
    if obstacle := assignment.obstacle():
        proof.lines.append(f"not proved here: {obstacle}")
        return proof
    assignment.cases(assignment.questions[0], key)  # draws in this thread first; the others only read
    for question in assignment.questions:
        assignment.mistaken(question, key)
    check_variants(assignment, proof, jobs, key)
    check_stub(assignment, proof, key)
    check_bank(assignment, proof, jobs, key)
    check_other_keys(assignment, proof, jobs)
    proof.seconds = time.monotonic() - started
    return proof


def check_variants(assignment: Assignment, proof: Proof, jobs: int, key: bytes) -> None:
    """Honest solutions score everything."""
    paths = [assignment.folder / "reference.py", *sorted((assignment.folder / "variants").glob("*"))]
    paths = [path for path in paths if path.is_file()]
    if len(paths) < 4:
        proof.faults.append(f"{assignment.name} has {len(paths) - 1} honest variants; three at least are needed")

    def grade(path: Path) -> list[TestResult]:
        return Grader(assignment, path.read_bytes(), key).grade()

    for path, results in zip(paths, in_parallel(jobs, grade, paths), strict=True):
        lost = [f"{each.test.id} ({each.status})" for each in results if each.status != "pass"]
        proof.faults += [f"honest {path.name} loses {', '.join(lost)}"] if lost else []
    proof.lines.append(f"{len(paths)} honest solutions, the reference among them")


def check_stub(assignment: Assignment, proof: Proof, key: bytes) -> None:
    """The stub scores nothing, as not attempted."""
    results = Grader(assignment, (assignment.folder / "stub.py").read_bytes(), key).grade()
    proof.faults += [
        f"the stub is {each.status} at {each.test.id}" for each in results if each.status != "not attempted"
    ]


def check_bank(assignment: Assignment, proof: Proof, jobs: int, key: bytes) -> None:
    """Every wrong answer loses the tests that its entry predicts and no others, by its name; the kill matrix."""
    reference = assignment.text("reference.py")

    def grade(mistake: Any) -> list[TestResult]:
        return Grader(assignment, f"{reference}\n\n{mistake.source}".encode(), key).grade()

    width = max((len(mistake.name) for mistake in assignment.bank), default=0)
    proof.lines.append(f"{len(assignment.bank)} named wrong answers; # marks a test that is lost")
    for i, test in enumerate(assignment.tests):
        proof.lines.append(" " * (width + 1) + "|" * i + "+" + "-" * (len(assignment.tests) - i) + f" {test.id}")
    for mistake, results in zip(assignment.bank, in_parallel(jobs, grade, assignment.bank), strict=True):
        lost = {each.test.id for each in results if each.status != "pass"}
        predicted = mistake.predicted(assignment)
        proof.lines.append(f"{mistake.name:{width}} " + "".join(".#"[each.test.id in lost] for each in results))
        if not lost:
            proof.faults.append(f"{mistake.name} is not rejected")
        if lost != predicted:
            unexpected, missed = sorted(lost - predicted), sorted(predicted - lost)
            proof.faults.append(f"{mistake.name} also loses {unexpected} and does not lose {missed}")
        named = {each.misconception for each in results if each.test.id in lost}
        if named != {mistake.misconception}:
            proof.faults.append(f"{mistake.name} is named as {sorted(named)}")
    for test in assignment.tests:
        if not any(test.id in mistake.predicted(assignment) for mistake in assignment.bank):
            proof.lines.append(f"no wrong answer loses {test.id}")


def check_other_keys(assignment: Assignment, proof: Proof, jobs: int = 2) -> None:
    """Whatever the key draws, honest solutions are right and the bank's are as predicted; computed without workers."""
    variants = {
        path.name: assignment.solution(path.read_text()) for path in (assignment.folder / "variants").glob("*.py")
    }
    for key in (b"key %d" % i for i in range(assignment.proof_keys)):
        lost: dict[str, set[str]] = {mistake.name: set() for mistake in assignment.bank}
        for question in assignment.questions:
            bank = assignment.mistaken(question, key)
            for (mistake, _), wrong in zip(bank, in_parallel(jobs, lambda each: _lost(each[1]), bank), strict=True):
                lost[mistake.name] |= wrong
            for name, solution in variants.items():
                wrong = _lost(Answers(solution, question.function, assignment.cases(question, key)))
                proof.faults += [f"with {key.decode()}, honest {name} loses {id}" for id in sorted(wrong)]
        for mistake in assignment.bank:
            if not mistake.status and lost[mistake.name] != mistake.predicted(assignment):
                odd = sorted(lost[mistake.name] ^ mistake.predicted(assignment))
                proof.faults.append(f"with {key.decode()}, {mistake.name} is not as predicted at {', '.join(odd)}")


def _lost(answers: Answers) -> set[str]:
    """The ids of the tests with a case that is not answered rightly."""
    return {case.test.id for case, answer in zip(answers.cases, answers, strict=True) if not _right(case, answer)}


def _right(case: Case, answer: Answer) -> bool:
    right = compare(case.expected.value, answer.value, case.relative, case.width).passed
    return answer.raised is None and not answer.changed and right


def check_attacks(assignment: Assignment, jobs: int = 2, key: bytes = b"proof") -> Proof:
    """Every attack ends in its predicted state: no score, leak or stray process, in bounded time. Made for a1."""
    started, proof = time.monotonic(), Proof("attacks")
    function = assignment.questions[0].function
    limits = dataclasses.replace(assignment.limits, call=0.7, load=1.0)
    quick = dataclasses.replace(assignment, questions=assignment.questions[:2], limits=limits)
    for question in quick.questions:
        quick.mistaken(question, key)
    adopt_orphans()
    Nursery.stop()  # the next one is a child of a process that adopts what is left behind
    before = children(os.getpid())

    def grade(attack: Attack) -> tuple[list[TestResult], str, float]:
        begun = time.monotonic()
        grader = Grader(quick, attack.source(quick, function).encode(), key)
        return grader.grade(), grader.problem, time.monotonic() - begun

    listed = attacks()
    for attack, (results, problem, seconds) in zip(listed, in_parallel(jobs, grade, listed), strict=True):
        name = f"attack {attack.id} ({attack.about})"
        aimed = [each for each in results if attack.where == "load" or each.test.id.startswith(f"{function}.")]
        states = {each.status for each in aimed}
        proof.lines.append(
            f"{attack.id:5} {attack.where:5} {attack.about:60} {', '.join(sorted(states))} {seconds:.1f} s"
        )
        if any(each.hundredths for each in aimed) and attack.status != "not deterministic":
            proof.faults.append(f"{name} scores")
        if attack.status not in states or (len(states) > 1 and attack.status != "not deterministic"):
            proof.faults.append(f"{name} ends as {sorted(states)}, not {attack.status}")
        proof.faults += [
            f"{name} costs {each.test.id}" for each in results if each not in aimed and each.status != "pass"
        ]
        hidden = [each for each in results if not each.test.public]
        if any(each.evidence or "LEAK" in each.summary + each.hint for each in hidden):
            proof.faults.append(f"{name} leaks")
        text = problem + "".join(each.summary + each.evidence.replace("\n", "") for each in results)
        if not text.isprintable():
            proof.faults.append(f"{name} puts control characters into the report")
        if seconds > 20:
            proof.faults.append(f"{name} takes {seconds:.0f} s")
    assert Nursery.process is not None
    family = {os.getpid(), Nursery.process.pid}
    deadline = time.monotonic() + 3  # a warden that has reported is still on its way out
    while left := set().union(*map(children, family)) - before - family:
        if time.monotonic() > deadline:
            proof.faults.append(f"{len(left)} stray processes: {sorted(map(command, left))}")
            break
        time.sleep(0.05)
    proof.seconds = time.monotonic() - started
    return proof


def command(pid: int) -> str:
    """What a process is, for a report."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text()[:60]
    return "gone"


def children(pid: int) -> set[int]:
    """The processes that a process has started or adopted, of all its threads."""
    return {int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()}
