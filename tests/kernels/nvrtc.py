"""Compiles kernels for real GPUs where there is none: NVIDIA's run-time compiler through ctypes, and what it reports.

`python tests/kernels/nvrtc.py` writes resources.csv, the table that test_nvrtc.py holds new code against.
"""

import csv
import ctypes
import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE / "resources.csv"
ENGINE = HERE.parents[1] / "tinyattn"
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)

# CuPy's flags less --device-as-default-execution-space, which would hide a missing __device__.
OPTIONS = ("-std=c++17", "-ftz=true", "--ptxas-options=-v", "--ptxas-options=-warn-spills")

# CUDA programming guide, "technical specifications per compute capability":
# warps and blocks that a multiprocessor holds, and its shared memory in KiB.
LIMITS = {
    75: (32, 16, 64),
    80: (64, 32, 164),
    86: (48, 16, 100),
    89: (48, 24, 100),
    90: (64, 32, 228),
    100: (64, 32, 228),
    120: (48, 24, 100),
}


@dataclass(frozen=True)
class Resources:
    """What one kernel needs on one architecture."""

    registers: int
    stack: int
    spills: int
    shared: int


@functools.cache
def library() -> ctypes.CDLL | None:
    """NVRTC from the pip package nvidia-cuda-nvrtc, or None."""
    try:
        import nvidia
    except ImportError:
        return None
    for folder in nvidia.__path__:
        for file in sorted(Path(folder).rglob("libnvrtc.so*")):
            return ctypes.CDLL(str(file))
    return None


def version() -> str:
    major, minor = ctypes.c_int(), ctypes.c_int()
    library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def compile_for(source: str, file: str, architecture: int) -> tuple[bool, str]:
    """Whether the text compiles to machine code for sm_NN, and the compiler's log."""
    nvrtc, program, size = library(), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), file.encode(), 0, None, None)
    options = [option.encode() for option in (*OPTIONS, f"--gpu-architecture=sm_{architecture}")]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return not failed, log.value.decode()


def resources(log: str) -> dict[str, Resources]:
    """Each kernel's needs, from the log of ptxas, by NVRTC or by nvcc."""
    pattern = (
        r"Function properties for (\w+)\s+(?:ptxas\s+\.\s+)?(\d+) bytes stack frame, (\d+) bytes spill stores, "
        r"(\d+) bytes spill loads\s+(?:ptxas )?info\s+: Used (\d+) registers([^\n]*)"
    )
    found = {}
    for name, stack, stores, loads, registers, rest in re.findall(pattern, log):
        shared = re.search(r"(\d+) bytes smem", rest)
        found[name] = Resources(int(registers), int(stack), int(stores) + int(loads), int(shared[1]) if shared else 0)
    return found


def occupancy(architecture: int, registers: int, shared: int, threads: int) -> float:
    """The share of a multiprocessor's warps that blocks of `threads` threads can fill; 0 if not even one block fits.

    Registers are handed out to warps in units of 256, warps in fours; each block takes 1 KiB of shared memory more for
    the system, from architecture 80 on (NVIDIA's occupancy calculator).
    """
    most_warps, most_blocks, shared_kib = LIMITS[architecture]
    warps = -(-threads // 32)
    warps_by_registers = 65536 // (-(-registers * 32 // 256) * 256) // 4 * 4
    system = 0 if architecture < 80 else 1024
    per_block = -(-(shared + system) // 128) * 128
    by_shared = shared_kib * 1024 // per_block if per_block else most_blocks
    blocks = min(most_blocks, most_warps // warps, warps_by_registers // warps, by_shared)
    return blocks * warps / most_warps


def table() -> list[dict[str, str]]:
    """Every kernel of the engine on every architecture."""
    from tinyattn import kernels

    rows = []
    for path in sorted(ENGINE.rglob("*.cu")):
        source = path.read_text()
        for architecture in ARCHITECTURES:
            good, log = compile_for(source, path.name, architecture)
            if not good:
                raise SystemExit(log)
            needs = resources(log)
            for name, signature in kernels.signatures(source).items():
                threads = signature.most_threads or 256
                need = needs[name]
                share = occupancy(architecture, need.registers, need.shared, threads)
                rows.append(
                    {
                        "nvrtc": version(),
                        "file": path.name,
                        "kernel": name,
                        "architecture": str(architecture),
                        "registers": str(need.registers),
                        "shared": str(need.shared),
                        "threads": str(threads),
                        "occupancy": f"{share:.4f}",
                    }
                )
    return rows


if __name__ == "__main__":
    sys.path.insert(0, str(ENGINE.parent))
    rows = table()
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
