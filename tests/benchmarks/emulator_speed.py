"""What the emulator costs: the first build of the softmax kernels, and a softmax of 1,024 x 1,024 by each of them.

python tests/benchmarks/emulator_speed.py [--repeats 5]

Goals, on two cores: first build at most 10 s, then kept; the fused softmax at most 0.5 s in the fast build and 2 s in
the checked one. Beside the clock stands the processor time of the compiler and of the launch, which a busy machine
does not stretch.
"""

import argparse
import os
import platform
import resource
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from tinyattn import kernels
from tinyattn.attention import step3_softmax
from tinyattn.emulator import program

SOURCE = Path(step3_softmax.__file__).with_suffix(".cu")
N = 1024
LAUNCHES = {
    "softmax_naive": (N // 128, 128, (N, N), 0),
    "softmax_warp": (N // 4, (32, 4), (N, N), 0),
    "softmax_block": (N, 256, (N,), 0),
    "fused_registers_float32": (N // 4, (32, 4), (N, N, 0.125, None, None, None), 0),
    "fused_shared_float32": (N, 256, (N, 0.125, None, None, None), 4 * N),
    "fused_reread_float32": (N, 256, (N, 0.125, None, None, None), 0),
}


def timed(function, *arguments):
    """Seconds by the clock, and of processor time in child processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    function(*arguments)
    taken, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    version = subprocess.run([program.compiler(), "--version"], capture_output=True, text=True, check=True).stdout
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {version.splitlines()[0]}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    scores = np.random.default_rng(0).normal(size=(N, N)).astype(np.float32)
    weights = np.zeros_like(scores)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        program.cache_folder.cache_clear()
        for checked in (False, True):
            module = kernels.load(SOURCE, "emulated", checked=checked)
            launch = module.get_function("softmax_naive")
            clock, processor = timed(launch, 1, 32, (scores[:32], weights[:32], 32, N))
            print(f"{'checked' if checked else 'fast'} build, first launch: {clock:.2f} s, processor {processor:.2f} s")
            for name, (grid, block, settings, shared_mem) in LAUNCHES.items():
                kernel = module.get_function(name)
                launch = (kernel, grid, block, (scores, weights, *settings), shared_mem)
                rounds = [timed(*launch) for _ in range(repeats)]
                clock, processor = (median(column) for column in zip(*rounds, strict=True))
                print(f"  {name:26} {clock:6.3f} s, processor {processor:6.3f} s")


if __name__ == "__main__":
    main()
