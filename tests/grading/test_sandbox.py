"""What a worker can and cannot do, asked from inside."""

import os
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

from tinyattn.grading.process import Ended, Limits, Policy, Worker, packages

SETUP = {
    "file": "f.py",
    "given": {},
    "replace": [],
    "reference": "",
    "harness": "",
    "meter": False,
    "reply_limit": 1 << 20,
}


@pytest.fixture(params=["namespaces", "no namespaces"])
def policy(request):
    """With and without namespaces, which many machines do not give."""
    return Policy(namespaces=request.param == "namespaces")


def ask(body, *args, policy=Policy(), limits=Limits(), **setup):  # noqa: B008
    """What a worker answers for `def f(*args): BODY`."""
    source = "def f(*args):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    with Worker({**SETUP, "source": source, **setup}, limits, policy) as worker:
        loaded = worker.load()
        assert not isinstance(loaded, Ended), loaded.line
        assert loaded.get("loaded") is True, loaded
        return worker.call("f", args, {})


def raised(reply):
    header, _ = reply
    return header["raised"][0]


def test_every_protection_of_this_machine_is_reported():
    with Worker({**SETUP, "source": ""}) as worker:
        worker.load()
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("the protections are Linux's, on x86-64 and aarch64")
    assert "no processes or sockets" in worker.protections
    assert "limits" in worker.protections
    assert any(name.startswith("Landlock") for name in worker.protections)
    if os.getuid() == 0 and "process namespace" in worker.protections:
        assert {"network namespace", "private root", "other user"} <= set(worker.protections)


def test_an_answer_comes_back(policy):
    header, arrays = ask("return args[0] * 2", np.arange(3.0), policy=policy)
    assert header["value"] == {"array": 0}
    assert header["changed"] is False
    np.testing.assert_array_equal(arrays[0], [0, 2, 4])


@pytest.mark.parametrize(
    "body",
    [
        f"open({str(Path(__file__))!r})",
        f"open({str(Path(__file__).parents[2] / 'pyproject.toml')!r})",
        "open('/etc/passwd')",
        "import os; os.listdir('/')",
        "import os; os.listdir('/proc')",
        "open('here', 'w')",
        "open('/tmp/tinyattn-here', 'w')",
        "import numpy; open(numpy.__file__, 'a')",
        "import socket; socket.socket()",
        "import socket; socket.socketpair()",
        "import os; os.fork()",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.execv('/bin/true', ['true'])",
        "import os; os.kill(os.getppid(), 0)",
        "import os; os.setsid()",
        "import multiprocessing; multiprocessing.get_context('spawn').Process(target=print).start()",
    ],
)
def test_files_network_and_processes_are_out_of_reach(body, policy):
    assert raised(ask(body, policy=policy)) in ("PermissionError", "FileNotFoundError")


def test_a_thread_may_be_started(policy):
    body = "import threading\nfound = []\nt = threading.Thread(target=lambda: found.append(1.0))\n"
    header, _ = ask(body + "t.start(); t.join(); return found[0]", policy=policy)
    assert header["value"] == {"plain": 1.0}


@pytest.mark.parametrize("module", ["tinyattn.tensor", "pytest", "matplotlib", "rich", "hypothesis"])
def test_only_numpy_and_the_standard_library_can_be_imported(module, policy):
    body = "import os, sys, numpy\nsys.path.append(os.path.dirname(os.path.dirname(numpy.__file__)))\n"
    assert raised(ask(body + f"import {module}", policy=policy)) in ("ModuleNotFoundError", "PermissionError")


def test_the_standard_library_and_all_of_numpy_work(policy):
    body = (
        "import math, typing, dataclasses, functools, itertools, json, decimal, sqlite3, ssl, numpy.fft, numpy.random\n"
    )
    header, _ = ask(body + "return float(numpy.random.default_rng(0).random() < 2)", policy=policy)
    assert header["value"] == {"plain": 1.0}


def test_the_process_that_runs_the_student_holds_no_secret(policy):
    body = "import sys, os\nreturn repr(sorted(os.environ)) + repr(sys.argv) + repr(sorted(sys.modules))"
    header, _ = ask(body, policy=policy)
    text = header["value"]["plain"]
    assert "tinyattn.grading" not in text
    assert "'OMP_NUM_THREADS'" in text
    assert "HOME" not in text


def test_the_worker_holds_its_own_pipes_alone(policy):
    body = "import os, stat\nheld = []\nfor i in range(64):\n    try: held.append(os.fstat(i).st_mode)\n"
    body += "    except OSError: pass\nreturn [float(stat.S_ISSOCK(mode)) for mode in held]"
    with Worker({**SETUP, "source": ""}, policy=policy) as other:  # at the same time, as with --jobs
        other.load()
        header, _ = ask(body, policy=policy)
    assert header["value"]["items"] == [{"plain": 0.0}] * 5  # three standard streams, requests, replies


def test_memory_is_measured_from_outside(policy):
    source = "import numpy\ndef f(n):\n    return float(numpy.ones(n << 17).sum())\n"
    with Worker({**SETUP, "source": source}, policy=policy) as worker:
        worker.load()
        before = worker.peak_memory()
        worker.call("f", [100], {})
        grown = worker.peak_memory() - before
    assert 100 << 20 <= grown < 110 << 20


def test_a_program_may_run_where_the_policy_says_so():
    policy = Policy(read=("/bin", "/usr/bin"), scratch=True, run_programs=True)
    body = "import subprocess\nopen('x', 'w').write('hello')\n"
    body += "return subprocess.run(['/bin/cat', 'x'], capture_output=True, text=True).stdout"
    header, _ = ask(body, policy=policy)
    assert header["value"] == {"plain": "hello"}
    assert raised(ask("import socket; socket.socket()", policy=policy)) == "PermissionError"


def test_printed_text_is_cut_in_the_middle():
    with Worker({**SETUP, "source": "def f():\n    print('first' + 'x' * 10**6 + 'last')"}) as worker:
        worker.load()
        worker.call("f", [], {})
        text = worker.text.take()
    assert text.startswith(b"first")
    assert text.rstrip().endswith(b"last")
    assert b"bytes cut" in text
    assert len(text) < 11_000


def test_a_worker_sees_numpy_alone_of_the_installed_packages():
    _, *seen = packages()
    assert {Path(path).name for path in seen} <= {"numpy", "numpy.libs"}


def test_given_modules_can_be_imported_and_calls_are_counted():
    source = "import numpy as np\nfrom given_part import twice\ndef g(x): return np.exp(twice(x))\n"
    source += "def f(x):\n    return sum(g(x + i) for i in range(5))"
    setup = {**SETUP, "source": source, "given": {"given_part": "def twice(x): return 2 * x"}, "meter": True}
    with Worker(setup) as worker:
        worker.load()
        header, _ = worker.call("f", [np.zeros(3)], {})
    assert header["counts"]["exp"] == 15
    assert header["counts"]["calls"] >= 6
    assert header["counts"]["complex"] == 0
