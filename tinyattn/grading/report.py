"""Results as people and platforms read them: text, JSON, CSV, Gradescope, GitHub Classroom, a class report."""

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinyattn.grading.assignment import Assignment

CLASSROOM_OUTPUT = 500  # GitHub Classroom's own graders cut a test's output here


def points(hundredths: int) -> int | float:
    """Hundredths of a point as points."""
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


def as_json(results: Sequence[dict[str, Any]], single: bool) -> str:
    """One object for one submission, a list for a class; the same bytes for the same gradings."""
    return json.dumps(results[0] if single else list(results), indent=2, ensure_ascii=True) + "\n"


def as_text(result: dict[str, Any]) -> str:
    """What a student reads: a line of result per test, then the evidence and the hint of those that failed."""
    lines = [f"{result['assignment']}  {result['submission']}  {result['score']} of {result['max_score']} points"]
    if result["problem"]:
        lines.append(f"  {result['problem']}")
    for test in result["tests"]:
        mark = "pass" if test["status"] == "pass" else "FAIL"
        lines.append(f"  {mark}  {test['id']:32} {test['score']:>5} / {test['max_score']}")
        if test["status"] != "pass" and not result["problem"]:
            lines += [f"          {line}" for line in explain(test, result["hints"]).splitlines()]
    if result["protections"]:
        lines.append(f"  protections: {', '.join(result['protections'])}")
    return "\n".join(lines) + "\n"


def explain(test: dict[str, Any], level: str) -> str:
    """Why a test failed: the kind of failure, a public test's evidence, the hint; above questions, the cause too."""
    lines = [f"{test['status']}: {test['summary']}", *test["evidence"].splitlines()]
    if test["misconception"] and level in ("concept", "place"):
        lines.append(test["misconception"])
    if test["hint"]:
        lines.append(f"hint: {test['hint']}")
    return "\n".join(lines)


def as_csv(results: Sequence[dict[str, Any]], assignment: Assignment) -> str:
    """One row for each submission, one column for each test."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    ids = [test.id for test in assignment.tests]
    writer.writerow(["submission", "sha256", "score", "max_score", "problem", "misconceptions", *ids])
    for result in results:
        named = sorted({test["mistake"] for test in result["tests"] if test["mistake"]})
        scores = {test["id"]: test["score"] for test in result["tests"]}
        row = [result["submission"], result["sha256"] or "", result["score"], result["max_score"]]
        row += [result["problem"], " ".join(named), *(scores[id] for id in ids)]
        writer.writerow([_cell(each) for each in row])
    return out.getvalue()


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value


def as_gradescope(result: dict[str, Any], metadata: dict[str, Any] | None = None) -> str:
    """Gradescope's results.json. A file that cannot be graded keeps the score of the submission before it."""
    tests = [
        {
            "name": test["id"],
            "name_format": "text",
            "number": str(i),
            "score": test["score"],
            "max_score": test["max_score"],
            "status": "passed" if test["status"] == "pass" else "failed",
            "output": "" if test["status"] == "pass" else explain(test, result["hints"]),
            "output_format": "text",
            "visibility": "visible",
            "extra_data": {"status": test["status"], "misconception": test["misconception"]},
        }
        for i, test in enumerate(result["tests"], 1)
    ]
    content: dict[str, Any] = {
        "score": result["score"],
        "output": result["problem"] or f"{result['score']} of {result['max_score']} points",
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {name: result[name] for name in ("assignment", "sha256", "version", "key", "protections")},
    }
    earlier = [each for each in (metadata or {}).get("previous_submissions") or [] if isinstance(each, dict)]
    kept = earlier[-1].get("results") if earlier else None
    if result["problem"] and isinstance(kept, dict) and isinstance(earlier[-1].get("score"), int | float | str):
        content |= {"score": float(earlier[-1]["score"]), "tests": kept.get("tests", [])}
        content["output"] += "\nThis file was not graded; the score of your submission before it stands."
    return json.dumps(content, indent=2) + "\n"


def as_classroom(result: dict[str, Any]) -> str:
    """What GitHub Classroom's stock reporter reads; a test's status agrees with its score, and so do totals."""
    passed = all(test["status"] == "pass" for test in result["tests"])
    tests = [
        {
            "name": test["id"],
            "status": "pass" if test["status"] == "pass" else "fail",
            "message": None if test["status"] == "pass" else f"{test['status']}: {test['summary']}",
            "test_code": test["id"],
            "task_id": 0,
            "filename": "",
            "line_no": 0,
            "duration": "",
            "score": test["score"],
            "max_score": test["max_score"],
            "output": "" if test["status"] == "pass" else explain(test, result["hints"])[:CLASSROOM_OUTPUT],
        }
        for test in result["tests"]
    ]
    content = {
        "version": 3,
        "status": "error" if result["problem"] else "pass" if passed else "fail",
        "message": result["problem"] or None,
        "max_score": result["max_score"],
        "tests": tests,
    }
    return json.dumps(content, indent=2) + "\n"


def misconceptions(results: Sequence[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """(mistake, its sentence, number of submissions that made it), the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for result in results:
        counts.update({(each["mistake"], each["misconception"]) for each in result["tests"] if each["mistake"]})
    return [(*pair, count) for pair, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def class_report(results: Sequence[dict[str, Any]], assignment: Assignment) -> str:
    """The class at a glance: scores, how each test went, the histogram of misconceptions, the files not graded."""
    scores = sorted(result["score"] for result in results)
    lines = [f"{assignment.name}: {assignment.title}", f"{len(results)} submissions"]
    if scores:
        middle = (scores[(len(scores) - 1) // 2] + scores[len(scores) // 2]) / 2
        lines.append(f"score: lowest {scores[0]}, median {middle:g}, highest {scores[-1]} of {results[0]['max_score']}")
    lines += ["", "passed by"]
    for i, test in enumerate(assignment.tests):
        passed = sum(result["tests"][i]["status"] == "pass" for result in results)
        lines.append(f"  {test.id:32} {passed:4} of {len(results)}")
    lines += ["", "misconceptions"]
    named = misconceptions(results)
    for mistake, sentence, count in named:
        lines += [f"  {count:4} {'#' * round(30 * count / named[0][2])} {mistake}", f"       {sentence}"]
    if not named:
        lines.append("  none was recognised")
    problems = [result for result in results if result["problem"]]
    lines += ["", "not graded"] + [f"  {result['submission']}: {result['problem']}" for result in problems]
    return "\n".join(lines if problems else lines[:-2]) + "\n"


def draw_misconceptions(results: Sequence[dict[str, Any]], path: Path) -> bool:
    """The histogram of misconceptions as a figure; False if there is none to draw."""
    named = misconceptions(results)[:20]
    if not named:
        return False
    from tinyattn import plot

    names = [name.replace("_", " ") for name, _, _ in named]
    figure, axes = plot.axes(width=7.5, height=1.2 + 0.3 * len(named))
    axes.barh(names, [count for _, _, count in named], color=plot.COLOURS[0])
    axes.invert_yaxis()
    axes.set_axisbelow(True)
    axes.grid(axis="y", visible=False)
    axes.xaxis.get_major_locator().set_params(integer=True)
    title = f"The most frequent misconception: {names[0]} ({named[0][2]} of {len(results)})"
    plot.label(axes, title=title, x="number of submissions that show it", legend=None)
    figure.savefig(path)
    return True
