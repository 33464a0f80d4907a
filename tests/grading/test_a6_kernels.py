"""Assignment a6: what its file may hold, wrong kernels that no bank knows, and a machine that lacks a compiler."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tinyattn.emulator import available
from tinyattn.grading.assignment import load
from tinyattn.grading.compare import compare
from tinyattn.grading.grade import Grader
from tinyattn.grading.kernel_file import read

FOLDER = load("a6").folder
REFERENCE = (FOLDER / "reference.py").read_text()
with (Path(__file__).parent / "kernels_a6.toml").open("rb") as file:
    UNSEEN = tomllib.load(file)["wrong"]

needs_compiler = pytest.mark.skipif(not available()[0], reason=available()[1])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import os\nos.system('true')", "line 2: only KERNEL, numbers and launch may stand in this file"),
        ("from tinyattn import kernels\nkernels.load = 3", "line 2: only KERNEL"),
        ("class Row: pass", "line 1: only KERNEL"),
        ("KERNEL = open('kernel.cu').read()", "line 1: only strings, numbers and arithmetic may stand here"),
        ("KERNEL = 'x' * 10 ** 9", "line 1: only strings"),
        ("KERNEL = 3", "KERNEL must be a string"),
        ("KERNEL = (", "line 1: SyntaxError: '(' was never closed"),
        ("def launch(rows, columns):\n    return print(rows)", "line 2: launch may only compute"),
        ("def launch(rows, columns):\n    return rows, 32 * warps, 0", "line 2: launch does not know `warps`"),
        ("def launch(rows, columns):\n    return ().__class__", "line 2: launch may only compute"),
        ("def launch(rows, columns):\n    return 9 ** 9 ** 9", "line 2: launch may only compute"),
        ("def launch(rows, columns):\n    while True: pass", "line 2: launch may only compute"),
        ("def launch(rows, columns=print()):\n    return 1", "line 1: launch takes rows and columns, no more"),
        ("KERNEL = '#include <stdio.h>'", "the kernel may not use `#include`"),
        ("KERNEL = '# include \"/etc/passwd\"'", "the kernel may not use `# include`"),
        ("KERNEL = 'void f() { asm(\"nop\"); }'", "the kernel may not use `asm`"),
        ("KERNEL = 'int x = emulator::checked;'", "the kernel may not use `emulator`"),
        ("KERNEL = 'int x = em\\\\\\nulator::checked;'", "the kernel may not use `\\`"),
        ("KERNEL = '#define E(a) a##ulator'", "the kernel may not use `##`"),
        ("KERNEL = 'extern \"C\" int system(const char*);'", "the kernel may use `extern` only for kernels"),
        ("KERNEL = '__attribute__((constructor)) void f();'", "the kernel may not use `__attribute__`"),
    ],
)
def test_what_may_not_stand_in_the_file(text, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def test_what_may_stand_in_the_file():
    text = '''"""A docstring."""
import math

import numpy as np

WARPS = 2 * 2
KERNEL = """
#define FULL 0xffffffffu
#pragma unroll
// asm, emulator and #include in a comment
extern "C" __global__ void fused_softmax() { extern __shared__ float x[]; printf("%d\\\\n", 1); }
""" + "// the end"
KERNEL = KERNEL.replace("fused", "fast")


def launch(rows: int, columns: int) -> tuple:
    """Grid, block, bytes."""
    block = 32 * WARPS if columns > 64 else 32
    if rows == 1:
        block = max(block, 64)
    return math.ceil(rows / 2), (block, 2), 4 * columns
'''
    space = {}
    exec(read(text), space)
    assert space["launch"](5, 70) == (3, (128, 2), 280)
    assert space["launch"](1, 7) == (1, (64, 2), 28)
    assert "fast_softmax" in space["KERNEL"]


def test_a_file_that_is_refused_scores_nothing_and_says_why():
    source = REFERENCE + "\nimport sys\nsys.exit()\n"
    grader = Grader(load("a6"), source.encode(), b"key")
    results = grader.grade() if available()[0] else []
    assert "only KERNEL, numbers and launch may stand in this file" in grader.problem
    assert all(each.status == "error" and each.hundredths == 0 for each in results)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("entry", UNSEEN, ids=lambda entry: entry["about"])
def test_a_wrong_kernel_is_rejected(entry):
    text = REFERENCE
    for old, new in (entry[key] for key in ("replace", "also") if key in entry):
        assert old in text
        text = text.replace(old, new)
    if "launch" in entry:
        text += f"\n\ndef launch(rows, columns):\n    return {entry['launch']}\n"
    a6 = load("a6")
    solution = a6.solution(text)
    answers = ((case, solution.answer("fused_softmax", case.call)) for case in a6.cases(a6.questions[0], b"unseen"))
    assert any(
        answer.raised or answer.changed or not compare(case.expected.value, answer.value, case.relative).passed
        for case, answer in answers
    )


def nvrtc():
    """The module tests/kernels/nvrtc.py."""
    path = Path(__file__).parents[1] / "kernels" / "nvrtc.py"
    spec = importlib.util.spec_from_file_location("nvrtc", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("nvrtc", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "path", [FOLDER / "stub.py", FOLDER / "reference.py", *FOLDER.glob("variants/*.py")], ids=lambda path: path.stem
)
def test_right_kernels_compile_for_a_gpu(path):
    compiler = nvrtc()
    if compiler.library() is None:
        pytest.skip("NVIDIA's run-time compiler is not there: pip install nvidia-cuda-nvrtc")
    space = {}
    exec(read(path.read_text()), space)
    done, log = compiler.compile_for(space["KERNEL"], "kernel.cu", 80)
    assert done, log


@needs_compiler
def test_a_compile_error_is_shown_with_public_tests_alone():
    source = REFERENCE.replace("kept[i] = x;", "kept[i] = secret_name;")
    results = Grader(load("a6"), source.encode(), b"key").grade()
    shown = [each for each in results if "secret_name" in each.evidence + each.summary + each.hint]
    assert {each.test.public for each in shown} == {True}
    assert all(each.hundredths == 0 for each in results)
    assert any("kernel.cu line" in each.evidence for each in shown)


def test_a_machine_without_a_compiler_says_what_to_install(tmp_path):
    (tmp_path / "a6_fused_softmax.py").write_text(REFERENCE)
    environment = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    environment.pop("CXX", None)
    command = [sys.executable, "-m", "tinyattn", "grade", str(tmp_path / "a6_fused_softmax.py"), "--assignment", "a6"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "install g++" in done.stderr or "runs on Linux only" in done.stderr
    assert len(done.stderr.splitlines()) == 1
