"""Grades one submission or a class: in parallel, resumable, and past every crash."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tinyattn.grading.assignment import Assignment
from tinyattn.grading.grade import Grader, TestResult
from tinyattn.grading.report import points
from tinyattn.grading.submissions import Submission

FORMAT = 1  # of a stored result


def fingerprint(key: bytes) -> str:
    """What identifies a key in a result without giving it away."""
    return hashlib.sha256(b"tinyattn key\0" + key).hexdigest()[:16] if key else ""


def grade_one(
    assignment: Assignment, submission: Submission, key: bytes = b"", level: str = "concept"
) -> dict[str, Any]:
    """The result of one submission, ready for JSON; nothing in it depends on the time or the machine's load."""
    if submission.source is None:
        results = [TestResult(test, "missing", "there is no file to grade") for test in assignment.tests]
        return as_result(assignment, submission, results, submission.problem, [], key, level)
    grader = Grader(assignment, submission.source, key, level)
    results = grader.grade()
    problem = submission.problem or grader.problem
    return as_result(assignment, submission, results, problem, grader.protections, key, level)


def as_result(
    assignment: Assignment,
    submission: Submission,
    results: Sequence[TestResult],
    problem: str,
    protections: list[str],
    key: bytes,
    level: str,
) -> dict[str, Any]:
    """The fixed form in which results are stored and from which every report is made."""
    return {
        "assignment": assignment.name,
        "submission": submission.name,
        "sha256": submission.sha256,
        "score": points(sum(each.hundredths for each in results)),
        "max_score": points(assignment.hundredths),
        "problem": problem,
        "tests": [as_test(each) for each in results],
        "protections": protections,
        "key": fingerprint(key),
        "hints": level,
        "version": assignment.version,
        "format": FORMAT,
    }


def as_test(each: TestResult) -> dict[str, Any]:
    """One test of a result."""
    return {
        "id": each.test.id,
        "status": each.status,
        "score": points(each.hundredths),
        "max_score": points(each.test.hundredths),
        "misconception": each.misconception or None,
        "hint": each.hint or None,
        "mistake": each.mistake or None,
        "summary": each.summary,
        "evidence": each.evidence,
        "public": each.test.public,
    }


class Store:
    """Results on disk, one file for each submission, complete or absent; what is there is not graded again."""

    def __init__(self, folder: Path, assignment: Assignment, key: bytes, level: str) -> None:
        self.folder, self.assignment, self.key, self.level = folder, assignment, key, level
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, submission: Submission) -> Path:
        """Where a submission's result is: a readable name, made unique by a digest of the whole name."""
        plain = re.sub(r"[^A-Za-z0-9._-]+", "_", submission.name)[:60].strip(".") or "submission"
        return self.folder / f"{plain}-{hashlib.sha256(submission.name.encode()).hexdigest()[:8]}.json"

    def get(self, submission: Submission) -> dict[str, Any] | None:
        """The stored result, if it is of this very file under this very grader, key and level."""
        try:
            stored = json.loads(self.path(submission).read_text(encoding="utf-8"))
            wanted = {
                "submission": submission.name,
                "sha256": submission.sha256,
                "key": fingerprint(self.key),
                "hints": self.level,
                "version": self.assignment.version,
                "format": FORMAT,
            }
            fits = submission.source is not None and all(stored[name] == value for name, value in wanted.items())
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return stored if fits else None

    def put(self, submission: Submission, result: dict[str, Any]) -> None:
        """Stores a result in one step, so that an interruption leaves no half of it."""
        path = self.path(submission)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        os.replace(partial, path)


def grade_all(
    assignment: Assignment,
    submissions: Sequence[Submission],
    key: bytes = b"",
    level: str = "concept",
    jobs: int = 1,
    store: Store | None = None,
    done: Callable[[dict[str, Any]], None] = lambda result: None,
) -> list[dict[str, Any]]:
    """The results of all submissions, in their order; `done` is called with each as it comes."""
    if jobs > 1 and len(submissions) > 1:  # what the threads share is made before they start
        for question in assignment.questions:
            assignment.mistaken(question, key)
    results: dict[int, dict[str, Any]] = {}
    for index, result in _results(assignment, submissions, key, level, jobs, store):
        results[index] = result
        done(result)
    return [results[index] for index in range(len(submissions))]


def _results(
    assignment: Assignment, submissions: Sequence[Submission], key: bytes, level: str, jobs: int, store: Store | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    waiting = []
    for index, submission in enumerate(submissions):
        stored = store.get(submission) if store is not None else None
        if stored is not None:
            yield index, stored
        else:
            waiting.append(index)

    def work(index: int) -> dict[str, Any]:
        submission = submissions[index]
        try:
            result = grade_one(assignment, submission, key, level)
        except Exception as error:  # a fault of the grader's own: this submission says so, the class goes on
            tests = [TestResult(test, "bad reply", "the grader failed") for test in assignment.tests]
            problem = f"the grader failed ({type(error).__name__}: {str(error)[:200]}); grade this submission again"
            return as_result(assignment, submission, tests, problem, [], key, level)
        if store is not None:
            store.put(submission, result)
        return result

    pool = ThreadPoolExecutor(jobs)
    try:
        futures = {pool.submit(work, index): index for index in waiting}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)
