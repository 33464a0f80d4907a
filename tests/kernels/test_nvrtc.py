"""Every kernel of the engine compiles for real GPUs: no warning, no spill, no more registers than the stored table."""

import csv
import re
import shutil
import subprocess

import nvrtc
import pytest

from tinyattn import kernels

FILES = sorted(nvrtc.ENGINE.rglob("*.cu"))
STORED = list(csv.DictReader(nvrtc.TABLE.read_text().splitlines()))

needs_nvrtc = pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here: pip install nvidia-cuda-nvrtc")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc here: it comes with the CUDA toolkit")

# What a compiler may say without a complaint.
REPORT = re.compile(r"^(ptxas (info\s+:|\s*\.).*|\s*|\s*0 bytes stack frame, 0 bytes spill.*)$")


def complaints(log):
    return [line for line in log.splitlines() if not REPORT.match(line)]


@needs_nvrtc
@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_kernels_compile_for(file, architecture):
    source = file.read_text()
    good, log = nvrtc.compile_for(source, file.name, architecture)
    assert good, log
    assert complaints(log) == []
    needs = nvrtc.resources(log)
    assert set(needs) == set(kernels.signatures(source))
    stored = {r["kernel"]: r for r in STORED if (r["file"], r["architecture"]) == (file.name, str(architecture))}
    assert set(stored) == set(needs), "write the table anew: python tests/kernels/nvrtc.py"
    for name, need in needs.items():
        assert (need.stack, need.spills) == (0, 0), f"{name} keeps {need.stack} bytes on a stack in slow memory"
        row = stored[name]
        share = nvrtc.occupancy(architecture, need.registers, need.shared, int(row["threads"]))
        assert share > 0, f"{name}: no block of {row['threads']} threads fits"
        assert share >= float(row["occupancy"]) - 1e-4, f"{name} fills less of the GPU than the table says: {need}"
        assert need.shared == int(row["shared"])
        if row["nvrtc"] == nvrtc.version():  # another compiler allots registers differently, and may
            assert need.registers == int(row["registers"]), f"{name}: write the table anew if this is meant"


@needs_nvrtc
def test_the_gate_sees_what_it_is_for():
    """A missing __device__, an unused variable, a spill and too many registers for a block are all noticed."""
    lines = {
        "missing": 'float f(float x) { return x; } extern "C" __global__ void k(float* x) { *x = f(*x); }',
        "unused": 'extern "C" __global__ void k(float* x) { int unused; *x = 1; }',
        "spill": """
extern "C" __global__ void __launch_bounds__(1024) k(float* x, int n) {
    float mine[96];
    #pragma unroll
    for (int i = 0; i < 96; ++i) mine[i] = x[i * 1024 + threadIdx.x];
    for (int turn = 0; turn < n; ++turn) {
        #pragma unroll
        for (int i = 0; i < 96; ++i) mine[i] = mine[i] * mine[(i * 7 + 1) % 96] + turn;
    }
    #pragma unroll
    for (int i = 0; i < 96; ++i) x[i * 1024 + threadIdx.x] = mine[i];
}""",
    }
    good, log = nvrtc.compile_for(lines["missing"], "missing.cu", 80)
    assert not good
    assert "without execution space annotations" in log
    good, log = nvrtc.compile_for(lines["unused"], "unused.cu", 80)
    assert good
    assert any("declared but never referenced" in line for line in complaints(log))
    good, log = nvrtc.compile_for(lines["spill"], "spill.cu", 80)
    assert good
    assert nvrtc.resources(log)["k"].spills > 0
    assert complaints(log)


@pytest.mark.parametrize(
    ("architecture", "registers", "shared", "threads", "expected"),
    [
        (80, 32, 0, 1024, 1.0),  # 2 x 32 of 64 warps, 65,536 registers: full
        (80, 33, 0, 1024, 0.5),  # 40 registers a thread as handed out: one block only
        (80, 222, 0, 512, 0.0),  # 222 registers leave room for 8 warps: cannot be launched
        (80, 222, 0, 256, 0.125),
        (75, 64, 0, 256, 1.0),  # 4 x 8 of 32 warps
        (90, 32, 113 * 1024, 512, 0.5),  # two blocks of 114 KiB in 228
        (86, 16, 0, 32, 1 / 3),  # 16 blocks of one warp in 48
        (120, 128, 49152, 128, 1 / 6),  # two blocks of 49 KiB in 100
    ],
)
def test_occupancy_by_hand(architecture, registers, shared, threads, expected):
    assert nvrtc.occupancy(architecture, registers, shared, threads) == pytest.approx(expected)


@needs_nvcc
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nvcc_agrees(file, tmp_path):
    release = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    command = ["nvcc", "-std=c++17", "-ftz=true", "-Xptxas=-v,-warn-spills", "-fatbin", "-o", str(tmp_path / "out")]
    for architecture in (75, 90, 120):
        command += ["-gencode", f"arch=compute_{architecture},code=sm_{architecture}"]
    result = subprocess.run([*command, str(file)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert complaints(result.stderr) == [], release
    needs = nvrtc.resources(result.stderr)  # of the last architecture; complaints() has read them all
    assert set(needs) == set(kernels.signatures(file.read_text()))
    stored = {row["kernel"]: int(row["shared"]) for row in STORED if row["file"] == file.name}
    for name, need in needs.items():
        assert (need.stack, need.spills, need.shared) == (0, 0, stored[name])
