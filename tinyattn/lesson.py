"""What every lesson script shares: its command line, its figures with their data, its verdict."""

import argparse
import csv
import os
import sys
from pathlib import Path

import numpy as np

from tinyattn.backend import DEVICES, import_cupy


class Lesson:
    """One run of a lesson script: `lesson = Lesson(__file__)` in its first code cell.

    Reads --device, --figures and --show from the command line. `device` is where the lesson puts its tensors, `name` the
    script's stem, `figures` the folder that it writes to: figures/ of the clone, else ./figures. A mistake of the user's
    (an unknown device, a folder that cannot be written) ends the script with one sentence and exit code 2.
    """

    def __init__(self, file):
        path = Path(file).resolve()
        self.name = path.stem
        parser = argparse.ArgumentParser(prog=path.name, description=f"Lesson {self.name.replace('_', ' ')}")
        parser.add_argument("--device", choices=DEVICES, default="cpu", help="where the tensors live")
        parser.add_argument("--figures", metavar="DIR", type=Path, help="folder for the figures and their data")
        parser.add_argument("--show", action="store_true", help="also open the figures in windows")
        options = parser.parse_args()
        self.device = options.device
        self.show = options.show
        clone = path.parent.parent
        self.figures = options.figures or (
            clone / "figures" if (clone / "pyproject.toml").exists() else Path("figures")
        )
        try:
            if self.device == "cuda":
                import_cupy()
            self.figures.mkdir(parents=True, exist_ok=True)
            if not os.access(self.figures, os.W_OK):
                raise PermissionError(13, "not writable")
        except OSError as error:
            stop(f"cannot write figures to {self.figures}: {error.strerror}")
        except RuntimeError as error:
            stop(str(error))

    def save(self, figure, data, suffix=""):
        """Writes the figure as NAME[suffix].png and data, a dict of equally long columns, as NAME[suffix].csv.

        What was timed goes under the suffix '_timing', since it differs from run to run; everything else must not.
        """
        columns = {name: np.atleast_1d(column) for name, column in data.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"the columns of a CSV need one length, got {lengths}")
        stem = self.figures / (self.name + suffix)
        try:
            with _replacing(stem.with_suffix(".csv")) as part, part.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
            with _replacing(stem.with_suffix(".png")) as part:
                figure.savefig(part, format="png", metadata={"Software": None})
        except OSError as error:
            stop(f"cannot write {stem}.png and .csv: {error.strerror}")
        print(f"wrote {os.path.relpath(stem)}.png and .csv")
        if self.show:
            from tinyattn import plot

            plot.show(stem.with_suffix(".png"))

    def verdict(self, claim, holds, evidence):
        """Prints whether the data bear the claim out, and the numbers that say so."""
        print(f"{CONFIRMED if holds else NOT_CONFIRMED}: {claim} ({evidence})")


CONFIRMED, NOT_CONFIRMED = "confirmed", "not confirmed here"


def stop(sentence):
    """Ends the program with one sentence on standard error and exit code 2."""
    print(f"tinyattn: {sentence}", file=sys.stderr)
    raise SystemExit(2)


class _replacing:
    """A temporary path beside `path` that takes its place when the block succeeds: nothing is left half-written."""

    def __init__(self, path):
        self.path, self.part = path, path.with_name(f".{path.name}.{os.getpid()}")

    def __enter__(self):
        return self.part

    def __exit__(self, kind, *_):
        if kind is None:
            self.part.replace(self.path)
        else:
            self.part.unlink(missing_ok=True)


def _cell(value):
    """Floats with 9 digits: enough to draw and compare, and free of the last bits' noise."""
    return f"{value:.9g}" if isinstance(value, float | np.floating) else value
