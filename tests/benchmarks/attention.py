"""Attention beside what people use today: PyTorch's fused kernel and its explicit four steps, JAX, tinygrad, HIPS
autograd, and our own four steps. Float32, forward, and forward with backward; each peer only where it is installed.

python tests/benchmarks/attention.py [--lengths 128,512,2048] [--widths 32,64,128] [--heads 8] [--repeats 9] [--figure]

Goals: at most 1.0 of the fused kernel's time forward, 0.8 forward and backward, for n from 1,024 to 4,096 and d = 64;
2.5 times as fast as our four steps at n = 2,048. Everything on the same cores in one process, in turns; a ratio is the
median over the rounds, with its quartiles. "Others" is how many cores other programs had meanwhile: a run with much
more than 0.1 says little. --figure draws figures/benchmark_attention.png.
"""

import argparse
import csv
import ctypes
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
from side_by_side import found, ratio, times

import tinyattn as ta
from tinyattn.attention import workers

FIGURE = Path(__file__).resolve().parents[2] / "figures" / "benchmark_attention"


def contenders(peers, arrays, upstream, is_causal):
    """{name: (forward, forward and backward)} on these arrays (1, H, n, d)."""
    given = arrays, upstream, is_causal
    made = {f"ours, {method}": with_tinyattn(*given, method) for method in ("tiled", "steps")}
    if "torch" in peers:
        made |= with_torch(peers["torch"], *given)
    for peer, make in (("jax", with_jax), ("tinygrad", with_tinygrad), ("autograd", with_autograd)):
        if peer in peers:
            try:
                pair = make(peers[peer], *given)
                pair[1]()
            except Exception as error:  # a peer that is installed and does not run here is no reason to stop
                print(f"{peer} left out: {type(error).__name__}: {str(error).splitlines()[0]}")
                del peers[peer]
            else:
                made[peer] = pair
    return made


def with_tinyattn(arrays, upstream, is_causal, method):
    leaves = [ta.Tensor(x, requires_grad=True) for x in arrays]

    def forward():
        with ta.no_grad():
            ta.scaled_dot_product_attention(*leaves, is_causal=is_causal, method=method)

    def both():
        for leaf in leaves:
            leaf.zero_grad()
        ta.scaled_dot_product_attention(*leaves, is_causal=is_causal, method=method).backward(upstream)

    return forward, both


def with_torch(torch, arrays, upstream, is_causal):
    leaves = [torch.from_numpy(x.copy()).requires_grad_() for x in arrays]
    grad, n = torch.from_numpy(upstream), arrays[0].shape[-2]
    fused = torch.nn.functional.scaled_dot_product_attention
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)

    def four_steps(query, key, value, is_causal):
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        return torch.softmax(scores.masked_fill(hidden, -torch.inf) if is_causal else scores, -1) @ value

    def pair(attention):
        def forward():
            with torch.no_grad():
                attention(*leaves, is_causal=is_causal)

        def both():
            for leaf in leaves:
                leaf.grad = None
            attention(*leaves, is_causal=is_causal).backward(grad)

        return forward, both

    return {"PyTorch, fused": pair(fused), "PyTorch, steps": pair(four_steps)}


def with_jax(jax, arrays, upstream, is_causal):
    numbers = [jax.numpy.asarray(x.swapaxes(-2, -3)) for x in arrays]  # JAX has (B, L, H, E)
    grad = jax.numpy.asarray(upstream.swapaxes(-2, -3))
    attention = jax.jit(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=is_causal))
    gradients = jax.jit(lambda q, k, v, g: jax.vjp(attention, q, k, v)[1](g))
    return (
        lambda: attention(*numbers).block_until_ready(),
        lambda: jax.block_until_ready((attention(*numbers), gradients(*numbers, grad))),
    )


def with_tinygrad(tinygrad, arrays, upstream, is_causal):
    leaves = [tinygrad.Tensor(x).realize() for x in arrays]
    grad = tinygrad.Tensor(upstream).realize()

    def attention():
        return leaves[0].scaled_dot_product_attention(leaves[1], leaves[2], is_causal=is_causal)

    def both():
        output = attention()
        tinygrad.Tensor.realize(output, *(output * grad).sum().gradient(*leaves))

    return lambda: attention().realize(), both


def with_autograd(autograd, arrays, upstream, is_causal):
    import autograd.numpy as anp

    hidden = np.triu(np.full((arrays[0].shape[-2],) * 2, -np.inf, np.float32), 1) if is_causal else np.float32(0)

    def attention(query, key, value):
        scores = anp.matmul(query, anp.swapaxes(key, -1, -2)) * np.float32(query.shape[-1] ** -0.5) + hidden
        weights = anp.exp(scores - anp.max(scores, axis=-1, keepdims=True))
        return anp.matmul(weights / anp.sum(weights, axis=-1, keepdims=True), value)

    gradient = autograd.grad(lambda x: anp.sum(attention(*x) * upstream))
    return lambda: attention(*arrays), lambda: gradient(tuple(arrays))


def repeat(function, calls):
    """A turn so long that the threads of the one before, which wait for more in a loop, have given up."""
    for _ in range(calls):
        function()


def blas():
    """NumPy's BLAS, the kernels that it chose for this processor, and its threads."""
    told = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    threads = workers.blas_threads()[0]()
    core = ctypes.CDLL(str(np._core._multiarray_umath.__file__))
    for name in ("scipy_openblas_get_corename64_", "openblas_get_corename"):
        if hasattr(core, name):
            getattr(core, name).restype = ctypes.c_char_p
            return f"{told['name']} {told['version']} ({getattr(core, name)().decode()}), {threads} threads"
    return f"{told['name']} {told['version']}"


def busy():
    """Seconds that all cores together have been busy, and those of this process; None where /proc is not."""
    try:
        numbers = Path("/proc/stat").read_text().split("\n")[0].split()[1:9]
    except OSError:
        return None
    return (sum(map(int, numbers)) - int(numbers[3]) - int(numbers[4])) / os.sysconf("SC_CLK_TCK"), time.process_time()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=numbers, default=[128, 256, 512, 1024, 2048, 4096])
    parser.add_argument("--widths", type=numbers, default=[64])
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", default="", help="names of contenders, separated by ';', beside 'ours, tiled'")
    parser.add_argument("--figure", action="store_true")
    options = parser.parse_args()

    peers = found("torch", "jax", "tinygrad", "autograd")
    threads = f", PyTorch {peers['torch'].get_num_threads()} threads" if "torch" in peers else ""
    print(f"NumPy's BLAS: {blas()}{threads}; {options.heads} heads, float32")
    rows = []
    for width in options.widths:
        for n in options.lengths:
            rng = np.random.default_rng(n)
            *arrays, upstream = (rng.standard_normal((1, options.heads, n, width), dtype=np.float32) for _ in range(4))
            for is_causal in (False, True):
                made = contenders(peers, arrays, upstream, is_causal)
                if options.only:
                    made = {k: v for k, v in made.items() if k == "ours, tiled" or k in options.only.split(";")}
                calls = max(1, 2**25 // (options.heads * n * n))
                for kind, task in enumerate(("forward", "forward and backward")):
                    before, start = busy(), time.perf_counter()
                    seconds = times(
                        {name: partial(repeat, pair[kind], calls) for name, pair in made.items()}, options.repeats
                    )
                    others = ""
                    if before:
                        spent = (busy()[0] - before[0]) - (busy()[1] - before[1])
                        others = f"others {max(0.0, spent) / (time.perf_counter() - start):.1f}"
                    title = f"n = {n:>5}, d = {width:>3}, {'causal' if is_causal else 'full':<6} {task:<20}"
                    middle = np.median(seconds["ours, tiled"]) / calls
                    print(f"{title} {1e3 * middle:8.2f} ms {others}", end="")
                    for name in made:
                        if name != "ours, tiled":
                            print(f"   {name} {ratio(seconds, 'ours, tiled', name)}", end="")
                        low, mid, high = np.quantile(seconds[name], (0.25, 0.5, 0.75)) * 1e3 / calls
                        rows.append((n, width, is_causal, task, name, low, mid, high))
                    print(flush=True)
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
