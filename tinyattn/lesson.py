"""What every lesson script shares: its command line, its figures with their data, its verdict."""

import argparse
import csv
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import numpy as np

from tinyattn.backend import DEVICES, import_cupy

CONFIRMED, NOT_CONFIRMED = "confirmed", "not confirmed here"
UNAVAILABLE = 69  # the exit code of a lesson that this machine lacks something for (EX_UNAVAILABLE of sysexits.h)


class Lesson:
    """One run of a lesson script: `lesson = Lesson(__file__)` in its first code cell.

    Reads --device, --figures, --show and --full from the command line. `device` is where the lesson puts its tensors,
    `name` the script's stem, `figures` the folder that it writes to: figures/ of the clone, else ./figures. A mistake
    of the user's (unknown device, folder that cannot be written) ends the script with one sentence and exit code 2.
    """

    def __init__(self, file):
        path = Path(file).resolve()
        self.name = path.stem
        parser = Parser(prog=path.name, description=f"Lesson {self.name.replace('_', ' ')}")
        add_options(parser)
        options = parser.parse_args()
        self.device = options.device
        self.show = options.show
        self.full = options.full
        self.figures = options.figures or figures_folder(path)
        sys.excepthook = _report
        print_anywhere()
        prepare(self.device, self.figures)

    def save(self, figure, data, suffix=""):
        """Writes the figure as NAME[suffix].png and data, a dict of equally long columns, as NAME[suffix].csv.

        What was timed goes under the suffix '_timing', since it differs from run to run; everything else must not.
        """
        columns = {name: np.atleast_1d(column) for name, column in data.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"the columns of a CSV need one length, got {lengths}")
        stem = self.figures / (self.name + suffix)
        picture = stem.with_suffix(".png")
        try:
            with _replacing(stem.with_suffix(".csv")) as table, _replacing(picture) as image:
                with table.open("w", newline="", encoding="utf-8") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow(columns)
                    writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
                figure.savefig(image, format="png", metadata={"Software": None})
        except OSError as error:
            stop(f"cannot write {stem}.png and .csv: {error.strerror}")
        print(f"wrote {os.path.relpath(stem)}.png and .csv")
        if self.show:
            from tinyattn import plot

            plot.show(picture)

    def need(self, there, reason):
        """Ends the lesson with the reason, and exit code UNAVAILABLE, unless what it cannot do without is there."""
        if not there:
            print(f"tinyattn: {reason}", file=sys.stderr)
            raise SystemExit(UNAVAILABLE)

    def verdict(self, claim, holds, evidence):
        """Prints whether the data bear the claim out, and the numbers that say so."""
        print(f"{CONFIRMED if holds else NOT_CONFIRMED}: {claim} ({evidence})")


class Parser(argparse.ArgumentParser):
    """A command line whose mistakes cost one sentence."""

    def error(self, message):
        stop(f"{message} (help: {self.prog} --help)")


def add_options(parser):
    """The options of a lesson, which the runner passes on."""
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="where the tensors live (default: cpu)")
    parser.add_argument("--figures", metavar="DIR", type=Path, help="folder for the figures and their data")
    parser.add_argument("--show", action="store_true", help="also open the figures in windows")
    parser.add_argument("--full", action="store_true", help="the longer run, in lessons that have one")


def figures_folder(script):
    """figures/ of the clone that the script lies in; ./figures for a script that came with an installed package."""
    clone = Path(script).resolve().parents[1]
    return clone / "figures" if (clone / "pyproject.toml").exists() else Path("figures")


def prepare(device, figures):
    """Makes the folder; stops where the device is not to be had or the folder cannot be written."""
    try:
        if device == "cuda":
            import_cupy()
        if device == "emulated":
            from tinyattn import emulator

            there, reason = emulator.available()
            if not there:
                raise RuntimeError(reason)
        figures.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=figures):
            pass
    except OSError as error:
        stop(f"cannot write figures to {figures}: {error.strerror} (choose another folder with --figures DIR)")
    except RuntimeError as error:
        stop(str(error))


def print_anywhere():
    """Lets a terminal that has no × or √ show ? instead of ending the program."""
    if hasattr(sys.stdout, "reconfigure"):  # a test's or a notebook's standard output may not
        sys.stdout.reconfigure(errors="replace")


def stop(sentence) -> NoReturn:
    """Ends the program with one sentence on standard error and exit code 2."""
    print(f"tinyattn: {sentence}", file=sys.stderr)
    raise SystemExit(2)


def _report(kind, error, trace):
    """Ctrl-C is no error of the lesson's: one word instead of a traceback."""
    if issubclass(kind, KeyboardInterrupt):
        print("\nstopped", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


@contextmanager
def _replacing(path):
    """A temporary path beside `path` that takes its place when the block succeeds: nothing is left half-written."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _cell(value):
    """Floats with 9 digits: enough to draw and compare, and free of the last bits' noise."""
    return f"{value:.9g}" if isinstance(value, float | np.floating) else value
