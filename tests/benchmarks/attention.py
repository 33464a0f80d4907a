"""Attention beside what people use today: PyTorch's fused kernel and its explicit four steps, JAX, tinygrad, HIPS
autograd, and our own four steps. Float32, forward, and forward with backward; each peer only where it is installed.

python tests/benchmarks/attention.py [--lengths 128,512,2048] [--widths 32,64,128] [--heads 8] [--repeats 9] [--figure]

Goals: at most 1.0 of the fused kernel's time forward, 0.8 forward and backward, for n from 1,024 to 4,096 and d = 64;
2.5 times as fast as our four steps at n = 2,048. Everything on the same cores in one run, in turns, each contender in a
process of its own and after a pause: threads that wait for more work in a loop, as those of OpenMP and OpenBLAS do for
a while, would take a core from the next one. A ratio is the median over the rounds, with its quartiles; every turn
begins with calls that are not timed, for as long as the pause. "Others" is how many cores other programs had
meanwhile, and what those threads burn in their loops: a run with much more than 0.2 says little. --figure draws
figures/benchmark_attention.png.
"""

import argparse
import csv
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from side_by_side import found, ratio, turns

import tinyattn as ta
from tinyattn.attention import blas

PAUSE = 0.1  # seconds, in which the threads of the contender before have given up waiting in a loop
FIGURE = Path(__file__).resolve().parents[2] / "figures" / "benchmark_attention"


@lru_cache(maxsize=1)
def prepared(name, heads, n, width, is_causal):
    """{task: function} of a contender on arrays (1, heads, n, width) that are the same for all."""
    rng = np.random.default_rng(n)
    *arrays, upstream = (rng.standard_normal((1, heads, n, width), dtype=np.float32) for _ in range(4))
    return dict(zip(TASKS, CONTENDERS[name][1](arrays, upstream, is_causal), strict=True))


def measure(name, *case, task, calls):
    """Seconds for each call, and those that this process spent on all cores in all."""
    function, spent = prepared(name, *case)[task], time.process_time()
    time.sleep(PAUSE)
    woken = time.perf_counter()
    while time.perf_counter() < woken + PAUSE:  # a system may leave threads that slept on one core for some calls
        function()
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls, time.process_time() - spent


def with_tinyattn(method, arrays, upstream, is_causal):
    leaves = [ta.Tensor(x, requires_grad=True) for x in arrays]

    def forward():
        with ta.no_grad():
            ta.scaled_dot_product_attention(*leaves, is_causal=is_causal, method=method)

    def both():
        for leaf in leaves:
            leaf.zero_grad()
        ta.scaled_dot_product_attention(*leaves, is_causal=is_causal, method=method).backward(upstream)

    return forward, both


def with_torch(fused, arrays, upstream, is_causal):
    import torch

    leaves = [torch.from_numpy(x.copy()).requires_grad_() for x in arrays]
    grad, n = torch.from_numpy(upstream), arrays[0].shape[-2]
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)

    def attention(query, key, value):
        if fused:
            return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal)
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        return torch.softmax(scores.masked_fill(hidden, -torch.inf) if is_causal else scores, -1) @ value

    def forward():
        with torch.no_grad():
            attention(*leaves)

    def both():
        for leaf in leaves:
            leaf.grad = None
        attention(*leaves).backward(grad)

    return forward, both


def with_jax(arrays, upstream, is_causal):
    import jax

    numbers = [jax.numpy.asarray(x.swapaxes(-2, -3)) for x in arrays]  # JAX has (B, L, H, E)
    grad = jax.numpy.asarray(upstream.swapaxes(-2, -3))
    attention = jax.jit(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=is_causal))
    gradients = jax.jit(lambda q, k, v, g: jax.vjp(attention, q, k, v)[1](g))
    return (
        lambda: attention(*numbers).block_until_ready(),
        lambda: jax.block_until_ready((attention(*numbers), gradients(*numbers, grad))),
    )


def with_tinygrad(arrays, upstream, is_causal):
    import tinygrad

    leaves = [tinygrad.Tensor(x).realize() for x in arrays]
    grad = tinygrad.Tensor(upstream).realize()

    def attention():
        return leaves[0].scaled_dot_product_attention(leaves[1], leaves[2], is_causal=is_causal)

    def both():
        output = attention()
        tinygrad.Tensor.realize(output, *(output * grad).sum().gradient(*leaves))

    return lambda: attention().realize(), both


def with_autograd(arrays, upstream, is_causal):
    import autograd
    import autograd.numpy as anp

    hidden = np.triu(np.full((arrays[0].shape[-2],) * 2, -np.inf, np.float32), 1) if is_causal else np.float32(0)

    def attention(query, key, value):
        scores = anp.matmul(query, anp.swapaxes(key, -1, -2)) * np.float32(query.shape[-1] ** -0.5) + hidden
        weights = anp.exp(scores - anp.max(scores, axis=-1, keepdims=True))
        return anp.matmul(weights / anp.sum(weights, axis=-1, keepdims=True), value)

    gradient = autograd.grad(lambda x: anp.sum(attention(*x) * upstream))
    return lambda: attention(*arrays), lambda: gradient(tuple(arrays))


TASKS = "forward", "forward and backward"
CONTENDERS = {  # name: (the module it needs, (arrays, upstream, is_causal) -> one function for each task)
    "ours, tiled": ("numpy", partial(with_tinyattn, "tiled")),
    "ours, steps": ("numpy", partial(with_tinyattn, "steps")),
    "PyTorch, fused": ("torch", partial(with_torch, True)),
    "PyTorch, steps": ("torch", partial(with_torch, False)),
    "JAX": ("jax", with_jax),
    "tinygrad": ("tinygrad", with_tinygrad),
    "autograd": ("autograd", with_autograd),
}


def torch_threads():
    import torch

    return f"PyTorch's MKL: {torch.get_num_threads()} threads"


def busy():
    """Seconds that all cores together have been busy with anything; None where /proc is not."""
    try:
        numbers = Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    except OSError:
        return None
    return (sum(map(int, numbers)) - int(numbers[3]) - int(numbers[4])) / os.sysconf("SC_CLK_TCK")


def compare(pools, case, task, repeats):
    """{name: seconds for one call, of each round}, and how many cores other programs had."""
    heads, n, *_ = case
    calls = min(max(1, 2**25 // (heads * n * n)), 64)
    seconds = {name: [] for name in pools}
    for name in pools:
        pools[name].submit(measure, name, *case, task=task, calls=1).result()
    before, start, own = busy(), time.perf_counter(), time.process_time()
    for name in turns(pools, repeats):
        mine, spent = pools[name].submit(measure, name, *case, task=task, calls=calls).result()
        seconds[name].append(mine)
        own -= spent
    if before is None:
        return seconds, ""
    spent = busy() - before - (time.process_time() - own)
    return seconds, f"others {max(0.0, spent) / (time.perf_counter() - start):.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=numbers, default=[128, 256, 512, 1024, 2048, 4096])
    parser.add_argument("--widths", type=numbers, default=[64])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", default="", help="names of contenders, separated by ';', beside 'ours, tiled'")
    parser.add_argument("--figure", action="store_true")
    options = parser.parse_args()

    wanted = (
        list(dict.fromkeys(["ours, tiled", *filter(None, options.only.split(";"))])) if options.only else CONTENDERS
    )
    if unknown := [name for name in wanted if name not in CONTENDERS]:
        parser.error(f"--only takes {'; '.join(CONTENDERS)}, got {'; '.join(unknown)}")
    peers = found(*dict.fromkeys(CONTENDERS[name][0] for name in wanted if CONTENDERS[name][0] != "numpy"))
    pools = {name: ProcessPoolExecutor(1, get_context("spawn")) for name in wanted if CONTENDERS[name][0] in peers}
    told = [pools["ours, tiled"].submit(blas.described).result()]
    told += [pools[name].submit(torch_threads).result() for name in ("PyTorch, fused",) if name in pools]
    print(f"{'; '.join(told)}; {options.heads} heads, float32")
    for name in tuple(pools):
        try:
            pools[name].submit(measure, name, 1, 16, 32, True, task=TASKS[1], calls=1).result()
        except Exception as error:  # a peer that is installed and does not run here is no reason to stop
            print(f"{name} left out: {type(error).__name__}: {str(error).splitlines()[0]}")
            pools.pop(name).shutdown()
    rows = []
    for width in options.widths:
        for n in options.lengths:
            for is_causal in (False, True):
                for task in TASKS:
                    seconds, others = compare(pools, (options.heads, n, width, is_causal), task, options.repeats)
                    title = f"n = {n:>5}, d = {width:>3}, {'causal' if is_causal else 'full':<6} {task:<20}"
                    print(f"{title} {1e3 * np.median(seconds['ours, tiled']):8.2f} ms {others}", end="")
                    for name in pools:
                        if name != "ours, tiled":
                            print(f"   {name} {ratio(seconds, 'ours, tiled', name)}", end="")
                        low, mid, high = np.quantile(seconds[name], (0.25, 0.5, 0.75)) * 1e3
                        rows.append((n, width, is_causal, task, name, low, mid, high))
                    print(flush=True)
    for pool in pools.values():
        pool.shutdown()
    if options.figure:
        draw(rows, options.heads)


def draw(rows, heads):
    """Time against n for each contender, and all of it as a CSV."""
    from tinyattn import plot

    width = 64 if any(row[1] == 64 for row in rows) else rows[0][1]
    names = list(dict.fromkeys(row[4] for row in rows))
    figure, panels = plot.axes(4, columns=2)
    for ax, (task, is_causal) in zip(
        panels, [(t, c) for t in ("forward", "forward and backward") for c in (False, True)], strict=True
    ):
        for series, name in enumerate(names[:6]):
            here = [row for row in rows if row[1:5] == (width, is_causal, task, name)]
            n, low, middle, high = ([row[i] for row in here] for i in (0, 5, 6, 7))
            plot.measured(ax, n, middle, low, high, label=name, series=series, join=True)
        plot.label(
            ax,
            title=f"{task}{', causal' if is_causal else ''}",
            x="tokens n", y=f"time for {heads} heads, d = {width} (ms)", log_x=2, log_y=10,
        )  # fmt: skip
    figure.savefig(FIGURE.with_suffix(".png"), metadata={"Software": None})
    with FIGURE.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("n", "width", "causal", "task", "contender", "low_ms", "median_ms", "high_ms"))
        writer.writerows((*row[:5], *(f"{x:.4g}" for x in row[5:])) for row in rows)
    print(f"wrote {FIGURE}.png and .csv")


def numbers(text):
    return [int(x) for x in text.split(",")]


if __name__ == "__main__":
    main()
