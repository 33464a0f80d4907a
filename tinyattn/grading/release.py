"""What goes to students, and to Gradescope: the stub, the pack without hidden material, the archive."""

import json
import os
import shutil
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tinyattn.grading.assignment import Assignment, load

SETUP = """#!/usr/bin/env bash
set -euo pipefail
apt-get update -qq
apt-get install -y -qq python3.11 python3.11-venv || apt-get install -y -qq python3 python3-venv
"$(command -v python3.11 || command -v python3)" -m venv /autograder/venv
/autograder/venv/bin/pip install --quiet "numpy>=2" "matplotlib>=3.8" "rich>=13"
chmod -R go-rwx /autograder/source
chmod go+x /autograder/source
"""
RUN = """#!/usr/bin/env bash
cd /autograder/source
PYTHONPATH=/autograder/source /autograder/venv/bin/python -m tinyattn grade /autograder/submission \\
    --assignment {name} --format gradescope --hints {hints}{hidden} \\
    --metadata /autograder/submission_metadata.json > /autograder/results/results.json
"""


def start(assignment: Assignment, folder: Path) -> Path:
    """Writes the stub under the name in which it is handed in, the given modules beside it; never over a file."""
    path = folder / assignment.file
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(assignment.text("stub.py"))
    except FileExistsError:
        raise ValueError(f"{path} is there already and stays as it is; move it away to start anew") from None
    except FileNotFoundError:
        raise ValueError(f"there is no folder {folder}") from None
    for name, text in assignment.handed_out.items():
        if not os.path.lexists(folder / f"{name}.py"):
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return path


def pack(assignment: Assignment, folder: Path) -> list[Path]:
    """Writes the students' pack into a new folder: stub, handout, given modules, public tests with answers."""
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    written = [start(assignment, folder), *(folder / f"{name}.py" for name in assignment.handed_out)]
    for name, text in (
        ("handout.md", assignment.text("handout.md")),
        ("examples.json", json.dumps(examples(assignment), indent=1) + "\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


def examples(assignment: Assignment) -> list[dict[str, Any]]:
    """The public tests: what each is about, its inputs, and the right result."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        return [plain(each) for each in value] if isinstance(value, tuple | list) else value

    return [
        {
            "test": case.test.id,
            "about": case.test.about,
            "function": question.function,
            "args": plain(case.call.args),
            "kwargs": {name: plain(value) for name, value in case.call.kwargs.items()},
            "expected": plain(case.expected.value),
        }
        for question in assignment.questions
        for case in assignment.cases(question, b"")
        if case.test.public
    ]


def archive(assignment: Assignment, path: Path, key: bytes, hints: str) -> None:
    """Writes Gradescope's archive: setup.sh and run_autograder at its root, tinyattn and the assignment beside them."""
    package = Path(__file__).parents[1]
    texts = {
        "setup.sh": SETUP,
        "run_autograder": RUN.format(name=assignment.name, hints=hints, hidden=" --hidden key" if key else ""),
    }
    if key:
        texts["key"] = key.decode("latin-1")
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as out:
            for name, text in texts.items():
                entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                entry.external_attr = (stat.S_IFREG | (0o600 if name == "key" else 0o755)) << 16
                out.writestr(entry, text.encode("latin-1"))
            folders = [assignment.folder, *(load(name).folder for name in assignment.builds_on)]
            for root, into in (
                (package, "tinyattn"),
                *((folder, f"tinyattn/lessons/assignments/{folder.name}") for folder in folders),
            ):
                for file in sorted(root.rglob("*")):
                    inside = file.relative_to(root)
                    if file.is_file() and "__pycache__" not in inside.parts and inside.parts[0] != "lessons":
                        _store(out, file, f"{into}/{inside}")
    except FileExistsError:
        raise ValueError(f"{path} is there already and stays as it is") from None


def _store(out: zipfile.ZipFile, file: Path, name: str) -> None:
    entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    with file.open("rb") as source, out.open(entry, "w") as target:
        shutil.copyfileobj(source, target)
