"""The commands `tinyattn grade` and `tinyattn assignment`. Nothing heavy is imported before one of them runs."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tinyattn.lesson import stop

FORMATS = ("text", "json", "csv", "gradescope", "classroom")
HINTS = ("none", "question", "concept", "place")


def add_commands(subparsers: Any) -> None:
    """Adds both commands to the parser of `tinyattn`."""
    grade = subparsers.add_parser(
        "grade",
        help="grade one submission or a class",
        description="Grades a file, a zip archive, a folder, or a folder with one of these for each student.",
    )
    grade.add_argument("path", metavar="PATH", type=Path, help="what was handed in")
    grade.add_argument("--assignment", metavar="NAME", help="which assignment: a1 (default: by the name of the file)")
    grade.add_argument("--format", choices=FORMATS, default="text", help="of the results on standard output")
    grade.add_argument("--hidden", metavar="KEYFILE", help="the instructor's key, from which hidden inputs are drawn")
    grade.add_argument("--hints", choices=HINTS, default="concept", help="how much students are told")
    grade.add_argument("-j", "--jobs", metavar="N", type=_positive, default=1, help="submissions graded at once")
    grade.add_argument(
        "--results", metavar="DIR", type=Path, help="where a class's results are kept, and resumed from (grades-NAME)"
    )
    grade.add_argument("--metadata", metavar="FILE", type=Path, help="Gradescope's submission_metadata.json")
    grade.set_defaults(run=_grade)

    parser = subparsers.add_parser("assignment", help="start, release, pack or prove an assignment")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="name the assignments")
    listed.set_defaults(run=_list)
    start = actions.add_parser("start", help="write the stub that a student completes")
    start.add_argument("name", metavar="NAME", help="a1")
    start.add_argument("folder", metavar="DIR", type=Path, nargs="?", default=Path(), help="where (default: here)")
    start.set_defaults(run=_start)
    release = actions.add_parser("release", help="write the students' pack: handout, stub, public examples")
    release.add_argument("name", metavar="NAME", help="a1")
    release.add_argument("folder", metavar="DIR", type=Path, help="a new folder")
    release.set_defaults(run=_release)
    archive = actions.add_parser("zip", help="write the archive that Gradescope runs")
    archive.add_argument("name", metavar="NAME", help="a1")
    archive.add_argument(
        "file", metavar="FILE", type=Path, nargs="?", help="the archive (default: NAME-gradescope.zip)"
    )
    archive.add_argument("--hidden", metavar="KEYFILE", help="the instructor's key, which goes into the archive")
    archive.add_argument("--hints", choices=HINTS, default="concept", help="how much students are told")
    archive.set_defaults(run=_zip)
    check = actions.add_parser("check", help="prove that an assignment grades as it says")
    check.add_argument("names", metavar="NAME", nargs="*", help="a1 (default: all)")
    check.add_argument("-j", "--jobs", metavar="N", type=_positive, default=os.cpu_count() or 1, help="processes")
    check.add_argument("--no-attacks", action="store_true", help="leave out the attacks on the grader")
    check.set_defaults(run=_check)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


@contextmanager
def _sentences() -> Iterator[None]:
    """Turns the errors of a mistaken call into one sentence and exit code 2."""
    try:
        yield
    except (ValueError, OSError) as error:
        stop(" ".join(str(error).split()))


def _grade(options: Any) -> int:
    from tinyattn.grading import bulk, keys, report, submissions
    from tinyattn.grading.assignment import load

    with _sentences():
        assignment = load(options.assignment or _guess(options.path))
        if obstacle := assignment.obstacle():
            raise ValueError(obstacle)
        found = submissions.find(options.path, assignment.file)
        key = keys.read(options.hidden)
        metadata = json.loads(options.metadata.read_text()) if options.metadata else None
        single = len(found) == 1 and not _is_class(options.path, assignment.file)
        if not single and options.format in ("gradescope", "classroom"):
            raise ValueError(
                f"--format {options.format} is for one submission; {submissions.shown(options.path)} is a class"
            )
        folder = options.results or (None if single else Path(f"grades-{assignment.name}"))
        store = bulk.Store(folder / "results", assignment, key, options.hints) if folder else None
    with _progress(len(found), quiet=single) as done:
        results = bulk.grade_all(assignment, found, key, options.hints, options.jobs, store, done)
    if options.format == "json":
        text = report.as_json(results, single)
    elif options.format == "csv":
        text = report.as_csv(results, assignment)
    elif options.format == "gradescope":
        text = report.as_gradescope(results[0], metadata)
    elif options.format == "classroom":
        text = report.as_classroom(results[0])
        _github_output(text)
    else:
        text = (
            "\n".join(report.as_text(each) for each in results) if single else report.class_report(results, assignment)
        )
    sys.stdout.write(text)
    if folder is not None and not single:
        (folder / "grades.csv").write_text(report.as_csv(results, assignment), encoding="utf-8")
        (folder / "report.txt").write_text(report.class_report(results, assignment), encoding="utf-8")
        for each in (each for each in results if not each["problem"].startswith("the grader failed")):
            name = store.path(submissions.Submission(each["submission"])).with_suffix(".txt").name if store else ""
            (folder / "results" / name).write_text(report.as_text(each), encoding="utf-8")
        drawn = report.draw_misconceptions(results, folder / "misconceptions.png")
        print(
            f"tinyattn: {folder} holds grades.csv, report.txt, results/" + ", misconceptions.png" * drawn,
            file=sys.stderr,
        )
    return 0


def _is_class(path: Path, file: str) -> bool:
    return path.is_dir() and not os.path.lexists(path / file)


def _guess(path: Path) -> str:
    """The assignment whose file lies at `path`, by name alone."""
    from tinyattn.grading.assignment import load, names
    from tinyattn.grading.submissions import shown

    if not os.path.lexists(path):
        raise FileNotFoundError(f"there is nothing at {shown(path)}")
    for name in names():
        file = load(name).file
        if path.name == file or os.path.lexists(path / file) or next(path.glob(f"*/{file}"), None):
            return name
    raise ValueError("which assignment is this? Say --assignment " + " or ".join(names()))


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A function to call with each result: a bar on a terminal, a line each elsewhere, nothing for a single one."""
    if quiet:
        yield lambda result: None
    elif not sys.stderr.isatty():
        yield lambda result: print(f"{result['score']:>6} {result['submission']} {result['problem']}", file=sys.stderr)
    else:
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as bar:
            task = bar.add_task("grading", total=total)
            yield lambda result: bar.advance(task)


def _github_output(text: str) -> None:
    """Hands the result to GitHub Classroom's reporter, where a workflow's step is running."""
    if path := os.environ.get("GITHUB_OUTPUT"):
        import base64

        with open(path, "a", encoding="utf-8") as file:
            file.write(f"result={base64.b64encode(text.encode()).decode()}\n")


def _list(options: Any) -> int:
    from tinyattn.grading.assignment import load, names

    for name in names():
        print(f"{name}  {load(name).title}")
    return 0


def _start(options: Any) -> int:
    from tinyattn.grading import release
    from tinyattn.grading.assignment import load

    with _sentences():
        assignment = load(options.name)
        path = release.start(assignment, options.folder)
    print(f"{path}: complete it, then run\n\n    pytest --assignment {assignment.name} --submission {path}\n")
    print(f"What to do is in {assignment.folder / 'handout.md'}")
    return 0


def _release(options: Any) -> int:
    from tinyattn.grading import release
    from tinyattn.grading.assignment import load

    with _sentences():
        for path in release.pack(load(options.name), options.folder):
            print(path)
    return 0


def _zip(options: Any) -> int:
    from tinyattn.grading import keys, release
    from tinyattn.grading.assignment import load

    with _sentences():
        assignment = load(options.name)
        path = options.file or Path(f"{assignment.name}-gradescope.zip")
        release.archive(assignment, path, keys.read(options.hidden), options.hints)
    print(path)
    return 0


def _check(options: Any) -> int:
    from tinyattn.grading.assignment import load, names
    from tinyattn.grading.check import check, check_attacks

    with _sentences():
        assignments = [load(name) for name in options.names or names()]
    proofs = [(each.title, partial(check, each, options.jobs)) for each in assignments]
    if not options.no_attacks:
        proofs.append(("what has been done to graders", partial(check_attacks, load("a1"), options.jobs)))
    faults = 0
    for title, prove in proofs:
        proof = prove()
        print(f"{proof.assignment}: {title}", *proof.lines, sep="\n  ")
        for fault in proof.faults:
            print(f"  FAULT {fault}")
        print(
            f"  {'holds' if not proof.faults else f'{len(proof.faults)} faults'} ({proof.seconds:.0f} s)\n", flush=True
        )
        faults += len(proof.faults)
    return 1 if faults else 0
