"""Runs CUDA kernels on the CPU, unmodified, and finds their races, bad addresses and missing barriers.

`build` compiles a .cu file together with the runtime in this folder into a small program; `launch` runs one kernel of
it in a process of its own and brings the arrays back. `tinyattn.kernels.load(..., device="emulated")` does both, and
checks the arguments first.

Out of reach here, and only a GPU can tell: time, streams, the last bits of fast intrinsics, the order of memory between
blocks, tensor cores, inline PTX, CUDA's headers. A `__device__` variable begins anew with each launch. The checked
build does not see a struct that goes from memory straight into a `__noinline__` function, nor, with clang, whether a
struct such as float4 is aligned.
"""

from tinyattn.emulator.errors import KernelError, Unavailable
from tinyattn.emulator.process import Counts, Traffic, launch
from tinyattn.emulator.program import Program, available, build

__all__ = ["Counts", "KernelError", "Program", "Traffic", "Unavailable", "available", "build", "launch"]
