"""What the engine itself costs: chains of 1,000 tiny elementwise ops, forward and backward, beside PyTorch and HIPS
autograd; and `import tinyattn` beside `import numpy`.

python tests/benchmarks/overhead.py [--repeats 60] [--only mixed,tanh] [--no-import]

Goals: the mixed chain in at most half of PyTorch's time and a fifth of HIPS autograd's, the import in 1.3 of NumPy's.
Eight float32 numbers per op, so that next to nothing is arithmetic; the garbage collector is on, as it is in use.
All is timed by processor time, of all threads and whole processes, so that other programs count for little.
"""

import argparse
import os
import resource
import subprocess
import sys
from functools import partial
from statistics import median, quantiles
from time import process_time

import numpy as np
from side_by_side import found, ratio, times

import tinyattn

OPS = 1_000
START = np.linspace(0.9997, 1.0003, 8, dtype=np.float32)  # its 1,000th power is neither tiny nor huge

# (y, x, library) -> y after some ops, and how many they are
CHAINS = {
    "y * x": (lambda y, x, lib: y * x, 1),
    "y + x": (lambda y, x, lib: y + x, 1),
    "y * number": (lambda y, x, lib: y * 1.0001, 1),
    "y - number": (lambda y, x, lib: y - 0.001, 1),
    "tanh(y)": (lambda y, x, lib: lib.tanh(y), 1),
    "exp(-y)": (lambda y, x, lib: lib.exp(-y), 2),
    "mixed": (lambda y, x, lib: lib.exp(-(lib.tanh(y * x + x) / 1.5 * 0.5 - 0.1)), 8),
}


def chain(step, length, x, library):
    y = x
    for _ in range(OPS // length):
        y = step(y, x, library)
    return y


def gradient_with(peers):
    """{library: (step, length) -> d(chain)/d(start)} for tinyattn and the peers that are there."""
    upstream = np.ones_like(START)

    def ours(step, length):
        x = tinyattn.Tensor(START, requires_grad=True)
        chain(step, length, x, tinyattn).backward(upstream)
        return x.grad

    gradients = {"tinyattn": ours}

    if "torch" in peers:
        torch = peers["torch"]
        torch_upstream = torch.ones(START.shape)

        def with_torch(step, length):
            x = torch.tensor(START, requires_grad=True)
            chain(step, length, x, torch).backward(torch_upstream)
            return x.grad.numpy()

        gradients["torch"] = with_torch

    if "autograd" in peers:
        from autograd import make_vjp
        from autograd import numpy as autograd_numpy

        def with_autograd(step, length):
            vjp, _ = make_vjp(lambda x: chain(step, length, x, autograd_numpy))(START)
            return vjp(upstream)

        gradients["autograd"] = with_autograd
    return gradients


def compare_chains(names, repeats):
    peers = found("torch", "autograd")
    if "torch" in peers:
        print(f"torch with {peers['torch'].get_num_threads()} threads")
    gradients = gradient_with(peers)
    others = [name for name in gradients if name != "tinyattn"]
    print(f"\n{OPS} ops forward and backward, {repeats} rounds: us of processor time per op; ratio: median (quartiles)")
    for name in names:
        contenders = {library: partial(gradient, *CHAINS[name]) for library, gradient in gradients.items()}
        for library in others:
            np.testing.assert_allclose(contenders[library](), contenders["tinyattn"](), rtol=1e-3, err_msg=library)
        seconds = times(contenders, repeats, clock=process_time)
        costs = "  ".join(f"{library} {median(s) * 1e6 / OPS:5.2f}" for library, s in seconds.items())
        ratios = "  ".join(f"of {library} {ratio(seconds, 'tinyattn', library)}" for library in others)
        print(f"{name:12} {costs}   {ratios}", flush=True)


def compare_imports(repeats):
    # the first call, which does not count, leaves compiled files behind, as installing a package does
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, env=variables)

    def clock():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    modules = ("tinyattn", "numpy")
    seconds = times({module: run(f"import {module}") for module in modules}, repeats, clock)
    print(f"\nwhole processes, {repeats} rounds: processor time, median (quartiles)")
    for module in modules:
        low, middle, high = (1e3 * q for q in quantiles(seconds[module], n=4))
        print(f"import {module:10} {middle:.0f} ms ({low:.0f}-{high:.0f})")
    print(f"import tinyattn of import numpy {ratio(seconds, 'tinyattn', 'numpy')}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeats", type=int, default=60)
    arguments.add_argument("--only", default=",".join(CHAINS), help="chains, by their names")
    arguments.add_argument("--no-import", action="store_true")
    chosen = arguments.parse_args()
    compare_chains(chosen.only.split(","), chosen.repeats)
    if not chosen.no_import:
        compare_imports(max(10, chosen.repeats // 2))
