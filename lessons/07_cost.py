# %% [markdown]
# # 07 What it costs
#
# Every query meets every key: n tokens make n² scores. So twice the tokens should take four times the operations, four
# times the memory and four times the time. The first is arithmetic, and can be counted without running anything. The
# others are claims about a machine, and must be measured.
#
# In this lesson you count first, then ask NumPy how much memory it took, then the clock. The clock will not agree at
# once, and the reasons are worth knowing.

# %%
import math
import os
import time
import tracemalloc

# one thread, or else the curves bend where the library for matrix products wakes up the other cores
os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")

import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.costs import attention_costs
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)


def inputs(n, width, device, requires_grad=True):
    """query, key and value (n, width) in float32."""
    rng = np.random.default_rng([n, width])
    arrays = (rng.standard_normal((n, width), dtype=np.float32) for _ in "qkv")
    return [ta.Tensor(array, requires_grad=requires_grad, device=device) for array in arrays]


def costs(n, width):
    return attention_costs((n, width), (n, width), (n, width), dtype="float32")


# %% [markdown]
# ## The ledger
#
# `attention_costs` counts from shapes alone. An *operation* is one +, −, ×, /, comparison or exp of one number. *Read*
# and *written* are the bytes of the arrays that a step takes and leaves, each once. *Live* is what is in memory at the
# worst moment of a step. The last column divides operations by bytes: a processor can do many operations in the time
# that it takes to fetch one byte, so steps with few operations per byte wait for the memory.
#
# Which step has nearly all of the operations? Which have hardly any, and move as many bytes?

# %%
print(costs(1024, 64))

# %% [markdown]
# The two products of matrices take 4 n² d operations going forward and twice that going back. The rest takes 11 n². So
# with d = 64 the softmax has 5 operations in 262, and doubling n makes four times as many of all.
#
# The live bytes hold 5 tables of n² numbers (scores, scaled scores, weights, and two gradients) and some arrays of n d
# numbers. When n is small beside d, the latter count, and they only double when n doubles. So the slope on logarithmic
# axes starts below 2 and ends there.

# %%
LENGTHS, WIDTHS = 2 ** np.arange(5, 12), (16, 64, 256)


def peak_memory(n, width):
    """Bytes that NumPy and Python ask for at the worst moment of forward and backward, beyond query, key and value."""
    query, key, value = inputs(n, width, "cpu")  # tracemalloc sees NumPy's memory, not that of a GPU
    upstream = np.ones((n, width), np.float32)
    tracemalloc.start()
    ta.attention_steps(query, key, value).output.backward(upstream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


peak_memory(8, 8)  # the first call also pays for what Python sets up once
measured = np.array([[peak_memory(n, width) for n in LENGTHS] for width in WIDTHS])
counted = np.array([[costs(n, width).peak for n in LENGTHS] for width in WIDTHS])
operations = np.array([[costs(n, width).flops for n in LENGTHS] for width in WIDTHS])
large = LENGTHS >= 512
off = np.abs(measured / counted - 1)
lesson.verdict(
    "the counted memory is what NumPy asks for",
    off[:, large].max() < 0.03,
    f"within {off[:, large].max():.1%} from n = {LENGTHS[large][0]} on; below, up to {off[:, ~large].max():.0%} more",
)
lesson.verdict(
    "doubling n quadruples the operations",
    np.all(operations[:, 1:] == 4 * operations[:, :-1]),
    f"{operations[1, -2]:.3g} at n = {LENGTHS[-2]}, {operations[1, -1]:.3g} at n = {LENGTHS[-1]}, d = {WIDTHS[1]}",
)
memory_slopes = np.log2(measured[:, 1:] / measured[:, :-1])
counted_slopes = np.log2(counted[:, 1:] / counted[:, :-1])
lesson.verdict(
    "doubling n quadruples the memory, once n is large beside d",
    np.all(memory_slopes[:2, -1] > 1.95) and memory_slopes[-1, 0] < 1.5,
    ", ".join(
        f"d = {width}: slope {slopes[0]:.2f} from n = {LENGTHS[0]}, {slopes[-1]:.2f} to n = {LENGTHS[-1]}"
        for width, slopes in zip(WIDTHS, memory_slopes, strict=True)
    ),
)

# %% [markdown]
# Why is a little more taken at small n? Python's own objects take some kilobytes, and NumPy works in place on its own
# intermediate results only where they have 256 KiB or more: tables from n = 256 on.

# %%
middles = np.sqrt(LENGTHS[1:] * LENGTHS[:-1])  # a slope belongs between its two lengths
figure, (left, right) = plot.axes(2)
for series, width in enumerate(WIDTHS):
    plot.theory(left, LENGTHS, counted[series] / 2**20, series=series)
    plot.measured(left, LENGTHS, measured[series] / 2**20, label=f"d = {width}", series=series)
    plot.theory(right, middles, counted_slopes[series], series=series)
    plot.measured(right, middles, memory_slopes[series], label=f"d = {width}", series=series)
plot.theory(left, [], [], "lines: counted")
plot.theory(right, middles, np.full(len(middles), 2.0), "slope 2: n²")
plot.label(
    left,
    title=f"d = 64: {measured[1, -1] / 2**20:.0f} MiB at n = {LENGTHS[-1]:,}, {measured[1, -2] / 2**20:.0f} at half",
    x="tokens n", y="peak memory, forward and backward, MiB", log_x=4, log_y=10,
)  # fmt: skip
plot.label(
    right,
    title=f"Slope {memory_slopes[-1, 0]:.2f} to {memory_slopes[:, -1].max():.2f}: n d gives way to n²",
    x="tokens n", y="slope from n/√2 to n√2", log_x=4, ylim=(0.9, 2.2), legend="lower right",
)  # fmt: skip
lesson.save(
    figure,
    {
        "width": np.repeat(WIDTHS, len(LENGTHS)),
        "tokens": np.tile(LENGTHS, len(WIDTHS)),
        "operations": operations.ravel(),
        "counted_KiB": (counted / 1024).ravel().round(1),
        "measured_KiB": (measured / 1024).ravel().round(),
    },
)

# %% [markdown]
# ## The clock
#
# Now time it, forward alone and forward with backward, on one core. All lengths are timed in turn, several rounds. On
# Linux and macOS the clock is the processor time of this program, which other programs do not add to; yet they
# disturb, and can only make a round slower, so a time is the lower quartile of the rounds. Its error comes from the
# *bootstrap*: draw as many rounds at random, with repeats, take their quartile, and do that 200 times. The bands and
# bars hold 80% of those; a slope is log2 of the ratio of two such times.
#
# A call costs something even with one token: Python, and the NumPy calls. Call that t(1), and measure it. If the rest
# grew with n² throughout, then t(n) = t(1) + (t(N) − t(1)) (n/N)² for the largest length N. That line is drawn.
# Predict where it bends, and where the measurement will leave it.

# %%
WIDTH, ROUNDS, SECONDS = 64, 16, 5  # on a busy machine time is up before all rounds are done
TIMED = 2 ** np.arange(4, 8 if lesson.device == "emulated" else 12)  # on the emulator the clock shows the emulator
clock = time.process_time if lesson.device == "cpu" and os.name == "posix" else time.perf_counter


def wait(result):
    """Until a GPU has the result; on the CPU it is there."""
    if lesson.device == "cuda" and isinstance(result, ta.Tensor):
        result[:1, :1].numpy()


def seconds(function):
    """Of one call, averaged over calls that take 2 ms together."""
    calls, taken = 1, 0.0
    while True:
        start = clock()
        for _ in range(calls):
            result = function()
        wait(result)
        taken = clock() - start
        if taken > 2e-3:
            return taken / calls
        calls = 2 * calls if taken < 1e-3 else calls + calls // 2 + 1


def timed(functions):
    """(200, functions) seconds: bootstrapped lower quartiles of rounds in which the functions take turns."""
    for function in functions:
        function()
    rounds, end = [], time.perf_counter() + SECONDS
    while len(rounds) < 4 or (len(rounds) < ROUNDS and time.perf_counter() < end):
        rounds.append([seconds(function) for function in functions])
    drawn = np.random.default_rng(0).integers(len(rounds), size=(200, len(rounds)))
    return np.quantile(np.array(rounds)[drawn], 0.25, axis=1)


def forward(n, width):
    query, key, value = inputs(n, width, lesson.device, requires_grad=False)
    return lambda: ta.attention_steps(query, key, value).output


def both(n, width):
    leaves = inputs(n, width, lesson.device)
    upstream = ta.Tensor(np.ones((n, width), np.float32), device=lesson.device)

    def run():
        for leaf in leaves:
            leaf.zero_grad()
        output = ta.attention_steps(*leaves).output
        output.backward(upstream)
        return output.detach()

    return run


lengths = np.append(1, TIMED)
kinds = {"forward": forward, "forward and backward": both}
all_times = timed([make(n, WIDTH) for make in kinds.values() for n in lengths])
times = dict(zip(kinds, np.split(all_times, len(kinds), axis=1), strict=True))

slopes = {kind: np.log2(t[:, 2:] / t[:, 1:-1]) for kind, t in times.items()}
predicted, predicted_slopes = {}, {}
for kind, t in times.items():
    first, last = np.median(t[:, 0]), np.median(t[:, -1])
    predicted[kind] = first + (last - first) * (TIMED / TIMED[-1]) ** 2
    predicted_slopes[kind] = np.log2(predicted[kind][1:] / predicted[kind][:-1])
for kind, slope in slopes.items():
    print(kind)
    for n, middle, low, high in zip(TIMED, *plot.spread(slope), strict=False):
        print(f"  n = {n:>4} to {2 * n:>4}: slope {middle:.2f} ({low:.2f} to {high:.2f}), ", end="")
        print(f"table {4 * n * n / 2**20:.3g} to {16 * n * n / 2**20:.3g} MiB")

for kind, slope in slopes.items():
    middle, low, high = plot.spread(slope[:, -1])
    lesson.verdict(
        f"doubling n quadruples the time, {kind}",
        abs(middle - 2) < 0.2,
        f"{2**middle:.1f} times from n = {TIMED[-2]} to {TIMED[-1]}: slope {middle:.2f}, {low:.2f} to {high:.2f}",
    )
small = np.median(slopes["forward"][:, 0])
one, few, half, most = (np.median(times["forward"][:, i]) for i in (0, 1, -2, -1))
lesson.verdict(
    "for few tokens the slope is far from 2, since the calls themselves cost time",
    small < 1,
    f"slope {small:.2f} from n = {TIMED[0]} to {TIMED[1]}; one token takes {one * 1e6:.0f} µs, {TIMED[0]} take "
    f"{few * 1e6:.0f} µs",
)

# %% [markdown]
# A slope above 2 has a reason too. A small table stays in the processor's cache; from a large one each number has to
# come from memory, and a large *new* array is handed over by the operating system page by page, each cleared first. So
# let step 2 alone, the scaling, tell what a number costs: once with its result in a new array, as the engine does it,
# and once in an array that is used again.

# %%
side = TIMED[-5:]
tables = [np.ones((n, n), np.float32) for n in side]
rooms = [np.empty_like(table) for table in tables]


def scale_new(table):
    return lambda: table * 0.125


def scale_again(table, room):
    return lambda: np.multiply(table, 0.125, out=room)


per_number = timed([*map(scale_new, tables), *map(scale_again, tables, rooms)]) * 1e9 / np.tile(side**2, 2)
new, again = np.split(np.median(per_number, axis=0), 2)
for n, of_new, of_again in zip(side, new, again, strict=True):
    print(
        f"table of {4 * n * n / 2**20:>6.3g} MiB: {of_new:.2f} ns for each number, {of_again:.2f} ns with no new array"
    )
lesson.verdict(
    "a number of a large table costs more than one of a small table",
    new[-1] > 1.3 * new.min(),
    f"{new[-1]:.2f} ns at n = {side[-1]}, {new.min():.2f} ns at best",
)

# %% [markdown]
# ## The width
#
# The operations grow almost in proportion to d: 4 n² d against 6 n² for all else, forward. If time went by operations,
# doubling d would double it. Predict the slope.

# %%
KEY_WIDTHS = 2 ** np.arange(3, 10)
LENGTH = int(TIMED[-2])
by_width = timed([forward(LENGTH, int(width)) for width in KEY_WIDTHS])
width_slopes = np.log2(by_width[:, 1:] / by_width[:, :-1])
by_operations = np.array([costs(LENGTH, int(width)).forward_flops for width in KEY_WIDTHS])
operation_slopes = np.log2(by_operations[1:] / by_operations[:-1])
at = list(KEY_WIDTHS).index(64)
middle, low, high = plot.spread(width_slopes[:, at])
lesson.verdict(
    "doubling d takes less than twice the time, though it takes twice the operations",
    high < operation_slopes[at] - 0.1,
    f"from d = 64 to 128: slope {middle:.2f} ({low:.2f} to {high:.2f}), of the operations {operation_slopes[at]:.2f}",
)

# %% [markdown]
# ## Each step by the clock
#
# Last, time the four steps one by one, and set three shares side by side: of the operations, of the bytes, of the
# time. An exp is counted as one operation, like a multiplication. Which of the two counts foretells the clock better?

# %%
query, key, value = inputs(LENGTH, WIDTH, lesson.device, requires_grad=False)
raw = ta.scores(query, key)
scaled = ta.scale(raw, factor=1 / math.sqrt(WIDTH))
weights = ta.softmax(scaled)
step_times = timed(
    [
        lambda: ta.scores(query, key),
        lambda: ta.scale(raw, factor=1 / math.sqrt(WIDTH)),
        lambda: ta.softmax(scaled),
        lambda: ta.weighted_sum(weights, value),
    ]
)
ledger = costs(LENGTH, WIDTH).forward
names = [step.name for step in ledger]
time_share = step_times / step_times.sum(axis=1, keepdims=True)
shares = {
    "operations": np.array([step.flops for step in ledger], float),
    "bytes": np.array([step.read + step.written for step in ledger], float),
}
shares = {name: share / share.sum() for name, share in shares.items()}
distance = {name: np.abs(share - np.median(time_share, axis=0)).sum() / 2 for name, share in shares.items()}
softmax = names.index("3 softmax")
softmax_counted, softmax_timed = shares["operations"][softmax], np.median(time_share[:, softmax])
lesson.verdict(
    "the softmax takes a far larger share of the time than of the operations",
    softmax_timed > 5 * softmax_counted,
    f"{softmax_timed:.0%} of the time, {softmax_counted:.0%} of the operations",
)
for name, off in distance.items():
    print(f"the {name} put {off:.0%} of the time at the wrong step")

# %%
figure, (top_left, top_right, low_left, low_right) = plot.axes(4, columns=2)
for series, kind in enumerate(kinds):
    plot.theory(top_left, TIMED, predicted[kind] * 1e3, series=series)
    plot.measured(top_left, TIMED, times[kind][:, 1:] * 1e3, label=kind, series=series)
    middles = np.sqrt(TIMED[1:] * TIMED[:-1])
    plot.theory(top_right, middles, predicted_slopes[kind], series=series)
    beside = middles * 1.08 ** (2 * series - 1)
    plot.measured(top_right, beside, *plot.spread(slopes[kind]), label=kind, series=series, bars=True)
plot.theory(top_left, [], [], "lines: fixed cost + n²")
plot.theory(top_right, middles, np.full(len(middles), 2.0), "slope 2: n²")
last = {kind: np.median(slope[:, -1]) for kind, slope in slopes.items()}
plot.label(
    top_left,
    title=f"{most * 1e3:.3g} ms at n = {TIMED[-1]:,}, {half * 1e3:.3g} ms at half",
    x="tokens n", y="time, ms", log_x=4, log_y=10,
)  # fmt: skip
plot.label(
    top_right,
    title=f"Slope {small:.1f} for few tokens, {last['forward']:.1f} for many",
    x="tokens n", y="slope from n/√2 to n√2", log_x=4, legend="lower right",
)  # fmt: skip

line = np.polyfit(KEY_WIDTHS, np.median(by_width, axis=0), 1)
plot.theory(low_left, KEY_WIDTHS, np.polyval(line, KEY_WIDTHS) * 1e3, "straight line in d")
in_proportion = by_operations / by_operations[-1] * np.median(by_width[:, -1])
plot.theory(low_left, KEY_WIDTHS, in_proportion * 1e3, "in proportion to operations", series=1)
plot.measured(low_left, KEY_WIDTHS, by_width * 1e3, label=f"forward, n = {LENGTH}")
plot.label(
    low_left,
    title=f"From d = 64 to 128: {2**middle:.1f} times the time",
    x="width d", y="time, ms", log_x=2, log_y=10,
)  # fmt: skip

places = np.arange(len(names))
for series, (name, share) in enumerate(shares.items(), start=1):
    plot.measured(low_right, places + 0.2 * (series - 2), share * 100, label=f"of the {name}, counted", series=series)
plot.measured(low_right, places + 0.2, *(np.array(plot.spread(time_share)) * 100), label="of the time", bars=True)
plot.label(
    low_right,
    title=f"Softmax: {softmax_counted:.0%} of operations, {softmax_timed:.0%} of time",
    y="share of the forward pass, %", ylim=(-3, 100),
)  # fmt: skip
low_right.set_xticks(places, [name.replace(" ", "\n", 1) for name in names])

rows = [
    [panel, case, x, *band]
    for panel, case, xs, samples in [
        *(("time, s", kind, lengths, t) for kind, t in times.items()),
        *(("slope", kind, middles, slope) for kind, slope in slopes.items()),
        ("time, s", f"forward, n = {LENGTH}", KEY_WIDTHS, by_width),
        ("share of the time", "forward", names, time_share),
    ]
    for x, *band in zip(xs, *plot.spread(samples), strict=True)
]
rows += [
    [f"share of the {name}", "forward", *row, "", ""]
    for name in shares
    for row in zip(names, shares[name], strict=True)
]
columns = zip(*rows, strict=True)
lesson.save(figure, dict(zip(("panel", "case", "x", "median", "low", "high"), columns, strict=True)), suffix="_timing")

# %% [markdown]
# ## To try
#
# * Double the largest length. Does the slope stay at 2? How much memory do you predict, and does your machine have it?
# * With 8 heads of width 8 instead of one of width 64 the products take as many operations. What do scale and softmax
#   take? Ask `attention_costs((8, n, 8), ...)`, then the clock.
# * `attention_costs(..., window=(63, 0))` counts the pairs that a window of 64 tokens keeps. The four steps work on
#   all pairs all the same. How much could a kernel save that skips the others?
