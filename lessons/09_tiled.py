# %% [markdown]
# # 09 The same numbers without the table
#
# Lesson 07 found where attention's memory goes: into the table of n × n scores. Lesson 08 spared trips to it. This one
# does away with it: *tiled* attention (FlashAttention; Dao et al., 2022) takes the keys block by block and keeps only
# the output so far and two numbers for each query. The result is the same, to rounding.
#
# * How can a softmax be taken in parts, when each weight depends on all scores of its row?
# * How exact is it?
# * What does it save: memory, bytes moved, time?

# %%
import math
import time
import tracemalloc

import numpy as np

import tinyattn as ta
from tinyattn import costs, plot
from tinyattn.attention.tiled import tiled_attention
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

WIDTH, SEEDS = 64, 6


def tensor(data, dtype=np.float32, **options):
    return ta.Tensor(np.asarray(data, dtype), device=lesson.device, **options)


# %% [markdown]
# ## A softmax in parts
#
# Write the output of one query as a fraction: Σ exp(sⱼ) vⱼ over Σ exp(sⱼ). Both sums can be taken key by key. What
# cannot is the largest score m, which is subtracted so that exp does not overflow: it is only known at the end.
#
# The way out (Milakov and Gimelshein, 2018): subtract the largest score *so far*. When a larger one turns up, all that
# was summed so far was measured with the wrong m, and it is off by one and the same factor: exp(m_old − m_new). So:
#
#     m_new  = max(m_old, largest score of the block)
#     total  = total · exp(m_old − m_new) + Σ exp(s − m_new)
#     output = output · exp(m_old − m_new) + Σ exp(s − m_new) v
#
# and at the end output / total. Follow it over one row of 12 keys, in blocks of 3.

# %%
rng = np.random.default_rng(3)
query, key, value = rng.normal(size=(1, 8)) * 2, rng.normal(size=(12, 8)), rng.normal(size=(12, 2))
row = (query @ key.T)[0] / math.sqrt(8)

peak, total, output = -np.inf, 0.0, np.zeros(2)
prefixes = []
print("block     largest so far    shrink     total    output so far")
for start in range(0, 12, 3):
    block = slice(start, start + 3)
    new_peak = max(peak, row[block].max())
    shrink = math.exp(peak - new_peak)
    weights = np.exp(row[block] - new_peak)
    peak, total, output = new_peak, total * shrink + weights.sum(), output * shrink + weights @ value[block]
    prefixes.append(output / total)
    print(f"{start:>2} to {start + 2:<3}{peak:>15.3f}{shrink:>12.3f}{total:>10.3f}    {output / total}")

at_once = ta.scaled_dot_product_attention(query, key, value).numpy()[0]
print(f"all at once: {at_once}")
by_prefix = max(
    np.abs(prefix - ta.scaled_dot_product_attention(query, key[:end], value[:end]).numpy()[0]).max()
    for prefix, end in zip(prefixes, (3, 6, 9, 12), strict=True)
)
lesson.verdict(
    "after each block the output is that of attention over the keys seen so far",
    by_prefix < 1e-14,
    f"largest difference {by_prefix:.0e}",
)

# %% [markdown]
# ## The same to rounding
#
# Adding up in another order rounds in another way. How far may the two be apart? In float32 every number is rounded to
# a relative 2⁻²⁴ ≈ 6e-8. A score is rounded too, so that exp(s) is off by about |s| · 2⁻²⁴. And the sums over n keys
# are made of n rounded parts whose errors point in all directions and mostly cancel: the output is a mean of values,
# and both a mean of n numbers and that of n errors shrink like 1/√n. So relative to the output's size the error should
# grow little with n.
#
# The budget that tinyattn holds itself to: at most twice the error of the four steps, against float64.
#
# Predict: which of the two is more exact?

# %%
LENGTHS = 2 ** np.arange(6, 12 if lesson.full else 11)


def draw(n, seed):
    generator = np.random.default_rng([seed, int(n)])
    return [generator.normal(size=(int(n), WIDTH)) for _ in range(3)]


def relative_errors(n, seed):
    """Root mean square error of each method in float32, relative to the output's own root mean square."""
    arrays = [x.astype(np.float32) for x in draw(n, seed)]
    exact = ta.scaled_dot_product_attention(*[tensor(x, float) for x in arrays], method="steps").numpy()
    found = [ta.scaled_dot_product_attention(*map(tensor, arrays), method=method).numpy() for method in METHODS]
    return [np.sqrt(np.mean((x - exact) ** 2) / np.mean(exact**2)) for x in found]


METHODS = ("steps", "tiled")
errors = np.array([[relative_errors(n, seed) for n in LENGTHS] for seed in range(SEEDS)])
unit = 2.0**-24
for name, of_method in zip(METHODS, np.moveaxis(errors, -1, 0), strict=True):
    print(f"{name}: {of_method.mean(axis=0)[0] / unit:.1f} units of 2^-24 at n = {LENGTHS[0]}", end=", ")
    print(f"{of_method.mean(axis=0)[-1] / unit:.1f} at n = {LENGTHS[-1]}")
worse = (errors[..., 1] / errors[..., 0]).max()
lesson.verdict(
    "tiled attention is within twice the error of the four steps",
    worse <= 2,
    f"at most {worse:.2f} times their error over {errors[..., 0].size} runs",
)

# %% [markdown]
# ## Memory
#
# Counted by the ledger of lesson 07, the four steps hold several tables at their worst moment, forward and backward.
# Tiled attention needs its inputs, its output, their gradients, two numbers for each query, and one block of scores,
# whose size does not depend on n: memory that grows with n alone. Backward makes the weights of each block again, from
# the two numbers; computing twice is the price.
#
# Predict: the ratio of the two at n = 4,096.

# %%
MEASURED = 2 ** np.arange(7, 14 if lesson.full else 13)


def peak_memory(attend, n):
    """Bytes at the worst moment of forward and backward, beyond the inputs, to 32 KiB: the least of three runs
    after one that is not counted, since Python itself allocates a little now and then."""
    query, key, value = (tensor(x, requires_grad=True) for x in draw(n, 0))
    upstream = np.ones((int(n), WIDTH), np.float32)
    peaks = []
    for _ in range(4):
        for x in (query, key, value):
            x.zero_grad()
        tracemalloc.start()
        attend(query, key, value).backward(upstream if lesson.device == "cpu" else tensor(upstream))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return round(min(peaks[1:]) / 2**15) * 2**15


def one_worker(query, key, value):
    return tiled_attention(query, key, value, factor=WIDTH**-0.5, workers=1)  # each worker has a block of its own


memory = {
    "steps": np.array([peak_memory(lambda q, k, v: ta.attention_steps(q, k, v).output, n) for n in MEASURED]),
    "tiled": np.array([peak_memory(one_worker, n) for n in MEASURED]),
}
shapes = [(int(n), WIDTH) for n in MEASURED]
ledgers = [costs.attention_costs(shape, shape, shape, dtype=np.float32) for shape in shapes]
tables = np.array([ledger.peak for ledger in ledgers])
slopes = {name: np.polyfit(np.log(MEASURED[-2:]), np.log(memory[name][-2:]), 1)[0] for name in memory}
for name in memory:
    print(f"{name}: {memory[name][-1] / 2**20:.1f} MiB at n = {MEASURED[-1]:,}, slope {slopes[name]:.2f}")
saved = memory["steps"][-1] / memory["tiled"][-1]
lesson.verdict(
    "the four steps' memory grows with the square of n, that of tiled attention with n at most",
    slopes["steps"] > 1.9 and slopes["tiled"] < 1.1,
    f"slopes {slopes['steps']:.2f} and {slopes['tiled']:.2f}; {saved:.0f} times the memory at n = {MEASURED[-1]:,}",
)

# %% [markdown]
# ## Bytes moved
#
# The ledger also counts bytes read and written. For tiled attention they can be counted by hand, if a block of scores
# stays in the processor's cache: queries and outputs pass once, keys and values once for every block of R queries. That
# is 4·(2n·d + (n/R)·2n·d) bytes forward. It grows with n², too, but R = 256 times more slowly than a table does.

# %%
ROWS = 256
steps_moved = np.array([sum(step.read + step.written for step in ledger.forward) for ledger in ledgers])
tiled_moved = 4 * (2 * MEASURED * WIDTH + np.maximum(1, MEASURED // ROWS) * 2 * MEASURED * WIDTH)
fewer = steps_moved / tiled_moved
print(f"forward at n = {MEASURED[-1]:,}: {steps_moved[-1] / 2**20:.0f} MiB moved, or {tiled_moved[-1] / 2**20:.0f}")

# %%
figure, (left, middle, right) = plot.axes(3)
budget = 2 * np.median(errors[..., 0], axis=0)
plot.theory(left, LENGTHS, budget / unit, "budget: twice the steps' error")
for series, name in enumerate(METHODS):
    plot.measured(left, LENGTHS, errors[..., series] / unit, label=name, series=series)
plot.label(
    left,
    title=f"As exact: at most {worse:.2f} times the steps' error",
    x="number of tokens n",
    y="relative error / 2$^{-24}$",
    log_x=2,
    ylim=(0, None),
)
plot.theory(middle, MEASURED, tables / 2**20, "counted, steps")
for series, name in enumerate(memory):
    plot.measured(middle, MEASURED, memory[name] / 2**20, label=name, series=series, join=name == "tiled")
plot.label(
    middle,
    title=f"{saved:.0f} times less memory at n = {MEASURED[-1]:,}",
    x="number of tokens n",
    y="peak memory, with backward (MiB)",
    log_x=2,
    log_y=10,
    ylim=(0.2, 2000),
)
plot.theory(right, MEASURED, steps_moved / 2**20, "steps", series=0)
plot.theory(right, MEASURED, tiled_moved / 2**20, f"tiled, {ROWS} queries a block", series=1)
plot.label(
    right,
    title=f"Counted: {fewer[-1]:.0f} times fewer bytes moved",
    x="number of tokens n",
    y="bytes moved, forward (MiB)",
    log_x=2,
    log_y=10,
)
lesson.save(
    figure,
    {
        "n": MEASURED,
        "steps_peak_mib": np.round(memory["steps"] / 2**20, 1),
        "tiled_peak_mib": np.round(memory["tiled"] / 2**20, 1),
        "counted_peak_mib": tables / 2**20,
        "steps_moved": steps_moved,
        "tiled_moved": tiled_moved,
    },
)

# %% [markdown]
# ## How far one laptop reaches
#
# Let a laptop have 16 GiB for attention. The four steps need a bytes for each *pair* of tokens, tiled attention b bytes
# for each *token*; both follow from the measurements above.

# %%
LAPTOP = 16 * 2**30
per_pair = memory["steps"][-1] / MEASURED[-1] ** 2
per_token = (memory["tiled"][-1] - memory["tiled"][0]) / (MEASURED[-1] - MEASURED[0])
reach = {"steps": math.sqrt(LAPTOP / per_pair), "tiled": LAPTOP / per_token}
print(f"{per_pair:.0f} bytes for each pair: {reach['steps']:,.0f} tokens in one head of width {WIDTH}")
print(f"{per_token:,.0f} bytes for each token: {reach['tiled']:,.0f} tokens")
lesson.verdict(
    "without the table the same memory reaches more than a hundred times as far",
    reach["tiled"] > 100 * reach["steps"],
    f"{reach['tiled']:,.0f} tokens instead of {reach['steps']:,.0f}",
)
print("What stops you then is time: it still grows with the square of n.")

# %% [markdown]
# ## Time
#
# Tiled attention does the same multiplications, and in backward some of them twice. But its block stays in the cache,
# and it shares its blocks among all cores. For a short text the work of cutting it into blocks is not worth it.
#
# Predict: from which n on is it faster? (`method="auto"` has to know.)

# %%
TIMED = 2 ** np.arange(5, 14 if lesson.full else 13)
REPEATS, TURN, PAUSE = 5, 0.05, 0.1  # s; in the pause, threads that wait for the other method's next call give up


def median_time(call):
    """Median seconds of one call, over a turn of calls."""
    taken, begin = [], time.perf_counter()
    while len(taken) < 3 or taken[-1] - begin < TURN:
        call()
        taken.append(time.perf_counter())
    return np.median(np.diff([begin, *taken])[1:])


seconds = {(name, task): np.empty((REPEATS, len(TIMED))) for name in METHODS for task in ("forward", "backward")}
for i, n in enumerate(TIMED):
    inputs = [tensor(x, requires_grad=True) for x in draw(n, 0)]
    upstream = tensor(np.ones((int(n), WIDTH)))
    for repeat in range(REPEATS):
        for name in METHODS:
            time.sleep(PAUSE)

            def forward(inputs=inputs, name=name):
                return ta.scaled_dot_product_attention(*inputs, method=name)

            def backward(forward=forward, upstream=upstream):
                forward().backward(upstream)

            seconds[name, "forward"][repeat, i] = median_time(forward)
            seconds[name, "backward"][repeat, i] = median_time(backward)
faster = {}
for task in ("forward", "backward"):
    faster[task] = np.median(seconds["steps", task] / seconds["tiled", task], axis=0)
    wins = TIMED[faster[task] > 1]
    print(f"{task:<9} tiled is faster from n = {wins.min() if len(wins) else 'never'} on", end="; ")
    print(f"{faster[task][-1]:.1f} times as fast at n = {TIMED[-1]:,}")
lesson.verdict(
    "tiled attention is the faster one for long texts, and by more the longer they are",
    all(of_task[-1] > 1.5 and of_task[-1] > of_task[0] for of_task in faster.values()),
    ", ".join(f"{task} {of_task[-1]:.1f} times as fast" for task, of_task in faster.items())
    + f" at n = {TIMED[-1]:,}, {faster['forward'][0]:.1f} and {faster['backward'][0]:.1f} at n = {TIMED[0]}",
)

# %%
figure, (left, right) = plot.axes(2)
titles = {"forward": "forward", "backward": "forward and backward"}
for ax, task in ((left, "forward"), (right, "backward")):
    for series, name in enumerate(METHODS):
        plot.measured(ax, TIMED, 1e3 * seconds[name, task], label=name, series=series, join=True)
    plot.label(
        ax,
        title=f"At n = {TIMED[-1]:,} tiled is {faster[task][-1]:.1f} times as fast",
        x="number of tokens n",
        y=f"time, {titles[task]} (ms)",
        log_x=2,
        log_y=10,
    )
lesson.save(
    figure,
    {"n": TIMED} | {f"{name}_{task}_ms": 1e3 * np.median(seconds[name, task], axis=0) for name, task in seconds},
    suffix="_timing",
)

# %% [markdown]
# ## What to try
#
# * In the first cell of code, make the scores grow from key to key: how often does the peak move, and what becomes of
#   `shrink`?
# * Let all scores be near −10⁵. A program that starts with m = −10⁴ instead of −∞ goes wrong here. How?
# * Ask for `is_causal=True` in the timing. Tiled attention skips the blocks above the diagonal; what does that save?
