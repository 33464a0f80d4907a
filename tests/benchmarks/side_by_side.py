"""Times of several contenders in one run: interleaved, so that a busy machine slows all, and compared in pairs."""

import os
import platform
from importlib import import_module
from importlib.metadata import version
from statistics import median, quantiles
from time import perf_counter


def found(*names):
    """{name: module} of the peers that are installed; prints Python, NumPy and every peer with its version."""
    modules = {}
    for name in ("numpy", *names):
        try:
            modules[name] = import_module(name)
        except ImportError:
            print(f"{name}: not installed, left out (pip install 'tinyattn[bench]')")
    versions = ", ".join(f"{name} {version(name)}" for name in modules)
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores")
    return modules


def times(contenders, repeats, clock=perf_counter):
    """{name: seconds of each round} for {name: function}: every round calls each of them once, in a rotating order."""
    seconds = {name: [] for name in contenders}
    for function in contenders.values():
        function()
    for name in turns(contenders, repeats):
        start = clock()
        contenders[name]()
        seconds[name].append(clock() - start)
    return seconds


def turns(names, repeats):
    """Every name once a round, in an order that rotates."""
    names = list(names)
    for turn in range(repeats):
        first = turn % len(names)
        yield from names[first:] + names[:first]


def ratio(seconds, name, peer):
    """'0.42 (0.40-0.45)': how long name took for each second of peer's, median and quartiles over the rounds."""
    pairs = [a / b for a, b in zip(seconds[name], seconds[peer], strict=True)]
    low, _, high = quantiles(pairs, n=4)
    return f"{median(pairs):.2f} ({low:.2f}-{high:.2f})"
