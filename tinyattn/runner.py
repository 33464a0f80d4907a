"""Finds the lessons and runs them: whole, each in a process of its own, or cell by cell in the terminal."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import time
import traceback
import types
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from tinyattn import lesson
from tinyattn.library import Script

VERDICT = re.compile(rf"^({lesson.CONFIRMED}|{lesson.NOT_CONFIRMED}): (.*)$", re.MULTILINE)
NOT_HERE, FAILED = "not possible here", "failed"
STYLES = {lesson.CONFIRMED: "green", lesson.NOT_CONFIRMED: "yellow", NOT_HERE: "yellow", FAILED: "red"}
LAST_LINES = 15  # of a failed lesson that are shown


@dataclass(frozen=True)
class Outcome:
    """What became of one lesson: its exit code, all that it printed, and the seconds it took."""

    script: Script
    code: int
    printed: str
    seconds: float

    @property
    def verdicts(self):
        """(verdict, claim) of each verdict line that it printed."""
        return VERDICT.findall(self.printed)

    @property
    def trouble(self):
        """(FAILED or NOT_HERE, the last line), or None where the lesson ran to its end."""
        if self.code == 0:
            return None
        kind = NOT_HERE if self.code == lesson.UNAVAILABLE else FAILED
        return kind, (self.printed.splitlines() or [f"exit code {self.code}"])[-1].removeprefix("tinyattn: ")


# ------------------------------------------------------------------------------------------------------------- whole


def run_lessons(scripts, arguments, live):
    """Runs the scripts, prints a table of their verdicts, and returns the exit code.

    live: pass on what each prints as it comes; otherwise a progress bar, and the last lines of a script that failed.
    The code is 1 where a script failed, and 2 where only such ran as this machine lacks something for; else 0.
    """
    console = Console(highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=live or not console.is_terminal) as progress:
        task = progress.add_task("", total=len(scripts))
        outcomes = []
        for script in scripts:
            progress.update(task, description=str(script))
            if live:
                console.print(Rule(str(script)))
            outcomes.append(run_lesson(script, arguments, print if live else None))
            if not live:
                _print_outcome(console, outcomes[-1])
            progress.advance(task)
    _print_table(console, outcomes)
    if any(outcome.trouble and outcome.trouble[0] == FAILED for outcome in outcomes):
        return 1
    return 0 if any(outcome.trouble is None for outcome in outcomes) else 2


def run_lesson(script, arguments, echo=None):
    """Runs one lesson in a process of its own, by this interpreter; `echo` is called with each line that it prints."""
    packages = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]  # also where tinyattn is not installed
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, packages)),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, str(script.path), *arguments]
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        lines = []
        try:
            for line in process.stdout or ():
                lines.append(line)
                if echo:
                    echo(line, end="", flush=True)  # a pipe too is read as it comes
        except BaseException:
            _end(process)
            raise
    return Outcome(script, process.returncode, "".join(lines), time.perf_counter() - start)


def _end(process):
    """Gives an interrupted lesson a moment to clean up (Ctrl-C in a terminal has reached it too), then ends it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
    process.kill()


def _print_outcome(console, outcome):
    state = outcome.trouble[0] if outcome.trouble else f"{len(outcome.verdicts)} verdicts"
    console.print(f"{outcome.script}: {state}, {outcome.seconds:.1f} s")
    if state == FAILED:
        for line in outcome.printed.splitlines()[-LAST_LINES:]:
            console.print(Text(f"  | {line}"))


def _print_table(console, outcomes):
    table = Table(title=f"Verdicts of {len(outcomes)} lesson{'s' * (len(outcomes) != 1)}", title_justify="left")
    table.add_column("lesson")
    table.add_column("verdict")
    table.add_column("claim (evidence)", overflow="fold")
    for outcome in outcomes:
        rows = [*outcome.verdicts, *filter(None, [outcome.trouble])]
        for i, (verdict, claim) in enumerate(rows):
            number = "" if i else f"{outcome.script.number:02d}"
            table.add_row(number, Text(verdict, STYLES[verdict]), Text(claim), end_section=i == len(rows) - 1)
    console.print(table)


# ----------------------------------------------------------------------------------------------------- cell by cell


def step_lesson(script, arguments):
    """Shows a lesson cell by cell: text or code, then what the code printed; Enter goes on, b back, q quits.

    Returns 0, 1 where a cell failed, or None where the reader quit.
    """
    console = Console(highlight=False)
    cells = script.cells()
    printed: dict[int, str | None] = {}  # by cell, so that going back runs nothing twice
    module = types.ModuleType("__main__")
    module.__file__ = str(script.path)
    sys.modules["__main__"] = module  # where dataclasses and pickle look a script's names up
    sys.argv = [str(script.path), *arguments]
    at = 0
    while at < len(cells):
        cell = cells[at]
        console.print(Rule(f"lesson {script.number:02d}, cell {at + 1} of {len(cells)}"))
        if cell.is_text:
            console.print(Markdown(cell.source))
        else:
            console.print(Syntax(cell.source, "python", background_color="default", word_wrap=True))
            console.print()
            if at in printed:
                console.out(printed[at], end="", highlight=False)
            else:
                printed[at] = _run_cell(cell, script.path, vars(module))
            if printed[at] is None:
                console.print(f"Cell {at + 1} failed: the lesson stops here.")
                return 1
        answer = _key()
        if answer == "q":
            return None
        at = max(at - 1, 0) if answer == "b" else at + 1
    console.print(f"End of lesson {script.number:02d}.")
    return 0


def _run_cell(cell, path, names):
    """Runs the code; what it printed, which is shown as it comes, or None where it raised."""
    source = "\n" * (cell.line - 1) + cell.source  # errors name the line of the file
    with contextlib.redirect_stdout(_Both(sys.stdout)) as output:
        try:
            exec(compile(source, path, "exec"), names)
        except Exception as error:
            trace = error.__traceback__.tb_next if error.__traceback__ else None  # without the line that says exec
            traceback.print_exception(error.with_traceback(trace))
            return None
    return output.getvalue()


class _Both(io.StringIO):
    """Keeps what is written, and passes it on."""

    def __init__(self, other):
        super().__init__()
        self.other = other

    def write(self, text):
        self.other.write(text)
        self.other.flush()
        return super().write(text)


def _key():
    """'' for Enter, 'b' or 'q': what the reader wants next. No more input means q."""
    while True:
        try:
            answer = input("[Enter next · b back · q quit] ").strip().lower()
        except EOFError:
            print()
            return "q"
        if answer in ("", "b", "q"):
            return answer
        print("Enter, b or q, please.")
