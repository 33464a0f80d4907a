"""The proof: honest solutions pass, wrong ones are rejected and named, attacks fail, as root and as a user."""

import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy
import pytest

from tinyattn.grading import assignment as assignments
from tinyattn.grading.check import attacks, check, check_attacks
from tinyattn.grading.compare import compare
from tinyattn.grading.process import Nursery

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", assignments.names())
def test_assignment_grades_as_it_says(name):
    assignment = assignments.load(name)
    if obstacle := assignment.obstacle():
        pytest.skip(obstacle)
    proof = check(assignment)
    print(*proof.lines, sep="\n")
    assert not proof.faults


@pytest.mark.slow
def test_attacks_end_as_predicted(a1):
    proof = check_attacks(a1)
    print(*proof.lines, sep="\n")
    assert not proof.faults
    assert len(proof.lines) == len(attacks()) >= 60


@pytest.mark.slow
def test_attacks_end_as_predicted_for_an_ordinary_user():
    program = "from tinyattn.grading.assignment import load\nfrom tinyattn.grading.check import check_attacks\n"
    program += "import os\nproof = check_attacks(load('a1'))\nprint(os.getuid(), len(proof.lines), proof.faults)\n"
    done = as_ordinary_user([sys.executable, "-B", "-c", program])
    assert done.stdout.split() == ["1000", str(len(attacks())), "[]"], done.stdout + done.stderr


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("unseen_*.toml")), ids=lambda path: path.stem)
def test_wrong_answers_that_the_bank_does_not_know_are_rejected(path):
    assignment = assignments.load(path.stem.removeprefix("unseen_"))
    with path.open("rb") as file:
        unseen = [each["code"] for each in tomllib.load(file)["wrong"]]
    accepted = [code for code in unseen if not is_rejected(assignment, code)]
    assert len(unseen) >= 60
    assert accepted == []


def is_rejected(assignment, code):
    """Whether a test of the question that `code` answers fails, or of any if it answers none by name; no workers."""
    solution = assignment.solution(assignment.text("reference.py"), code)
    named = [each for each in assignment.questions if f"def {each.function}(" in code]
    for question in named or assignment.questions:
        for case in assignment.cases(question, b"unseen"):
            answer = solution.answer(question.function, case.call)
            right = compare(case.expected.value, answer.value, case.relative, case.width).passed
            if answer.raised or answer.changed or not right:
                return True
    return False


def as_ordinary_user(command):
    """Runs a command with uid 1000, in a mount namespace in which that user can read the interpreter."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user; as a user, test_attacks_end_as_predicted is this test")
    if not (shutil.which("unshare") and shutil.which("setpriv")):
        pytest.skip("unshare and setpriv (util-linux) are needed to become another user")
    environment = Path(sys.prefix), Path(sys.base_prefix), Path(numpy.__file__).parents[1], ROOT
    closed: dict[Path, list[Path]] = {}
    for path in {each.resolve() for each in environment}:
        barred = [parent for parent in path.parents if not parent.stat().st_mode & 0o001]
        if barred:
            closed.setdefault(barred[-1], []).append(path)
    lines = ["set -e"]
    for place, paths in closed.items():  # a folder that the user may not enter: an open one in its place
        for i, path in enumerate(paths):
            lines += [f"t{i}=$(mktemp -d)", f"mount --bind {shlex.quote(str(path))} $t{i}"]
        lines.append(f"mount -t tmpfs -o mode=755 none {shlex.quote(str(place))}")
        for i, path in enumerate(paths):
            lines += [f"mkdir -p {shlex.quote(str(path))}", f"mount --move $t{i} {shlex.quote(str(path))}"]
    drop = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    inside = ["env", f"PYTHONPATH={ROOT}", "HOME=/nonexistent", *command]
    lines.append("exec " + shlex.join([*drop, *inside]))
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=300, cwd="/"
    )
    if "Operation not permitted" in done.stderr and not done.stdout:
        pytest.skip(f"this machine lets root mount nothing: {done.stderr.strip()[:200]}")
    return done


KILLED = """
import threading
from tinyattn.grading.process import Worker
setup = {"file": "a", "source": "while True: pass", "reference": "", "harness": "", "given": {}, "replace": []}
worker = Worker({**setup, "meter": False, "reply_limit": 1}).__enter__()
threading.Timer(0.5, lambda: print(worker.warden, flush=True)).start()
worker.load()
"""


def test_a_grader_that_is_killed_leaves_no_worker():
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, cwd=ROOT) as grader:
        warden = int(grader.stdout.readline())
        child = int(Path(f"/proc/{warden}/task/{warden}/children").read_text().split()[0])
        grader.kill()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in (warden, child)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists()
    assert not Path(f"/proc/{warden}").exists()


def test_a_nursery_that_dies_is_replaced(a1, right, grade, tmp_path):
    (tmp_path / a1.file).write_text(right)
    assert grade(tmp_path)["score"] == 100
    Nursery.process.kill()
    Nursery.process.wait()
    assert grade(tmp_path)["score"] == 100
