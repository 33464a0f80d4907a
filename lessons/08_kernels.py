# %% [markdown]
# # 08 One pass instead of five
#
# Lesson 07 found that scale and softmax have few operations and take much time: they wait for the memory. So the way
# to a faster softmax is not fewer operations. It is to read each number once, and to write each weight once.
#
# On a GPU that is a matter of how a *kernel* is written: a function in CUDA C++ that thousands of threads run at once.
# `tinyattn/attention/step3_softmax.cu` holds several that compute the same softmax. Here you count what each one moves,
# from a prediction you make by reading it. No GPU is needed: an *emulator* compiles the same file for your processor,
# runs every thread of it, and writes down each access. Then you take out one line and see what goes wrong.

# %%
import math
import time
from pathlib import Path

import numpy as np

import tinyattn as ta
from tinyattn import emulator, kernels, plot
from tinyattn.attention import step3_softmax
from tinyattn.costs import attention_costs
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)
lesson.need(*emulator.available())

SOURCE = Path(step3_softmax.__file__).with_suffix(".cu").read_text(encoding="utf-8")
ROWS = 64
FACTOR = 0.125

# %% [markdown]
# ## How memory is moved
#
# Threads run in *warps* of 32, which execute an instruction together. When a warp loads, the memory answers in
# *sectors* of 32 bytes, 8 numbers of float32. If the 32 threads ask for 32 neighbouring numbers, 4 sectors move and
# all of each is wanted. If each thread asks for a number in another row, 32 sectors move, and of each a warp wants one
# number in eight.
#
# First the straightforward way, as array libraries do it: one small kernel after another, each through the whole
# table. (All are written so that neighbouring threads touch neighbouring numbers.)

# %%
FIVE_PASSES = """
__device__ float all_of_warp(float x, bool add)
{
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, x, d);
        x = add ? x + other : fmaxf(x, other);
    }
    return x;
}

// Each: table (rows, columns), per_row (rows). One warp a row, one row a block.
#define EACH(i) for (int i = threadIdx.x; i < columns; i += 32)
extern "C" __global__ void scale(const float* x, float* y, const float* per_row, int columns)
{
    const long long row = (long long)blockIdx.x * columns;
    EACH(i) y[row + i] = x[row + i] * FACTOR;
}
extern "C" __global__ void peak(const float* x, float* y, float* per_row, int columns)
{
    float mine = x[(long long)blockIdx.x * columns];
    EACH(i) mine = fmaxf(mine, x[(long long)blockIdx.x * columns + i]);
    mine = all_of_warp(mine, false);
    if (threadIdx.x == 0) per_row[blockIdx.x] = mine;
}
extern "C" __global__ void subtract_and_exp(const float* x, float* y, const float* per_row, int columns)
{
    const long long row = (long long)blockIdx.x * columns;
    const float peak = per_row[blockIdx.x];
    EACH(i) y[row + i] = expf(x[row + i] - peak);
}
extern "C" __global__ void total(const float* x, float* y, float* per_row, int columns)
{
    float mine = 0;
    EACH(i) mine += x[(long long)blockIdx.x * columns + i];
    mine = all_of_warp(mine, true);
    if (threadIdx.x == 0) per_row[blockIdx.x] = mine;
}
extern "C" __global__ void divide(const float* x, float* y, const float* per_row, int columns)
{
    const long long row = (long long)blockIdx.x * columns;
    const float total = per_row[blockIdx.x];
    EACH(i) y[row + i] = x[row + i] / total;
}
""".replace("FACTOR", f"{FACTOR}f")


def five_passes(columns):
    return [(name, ROWS, 32, (columns,)) for name in ("scale", "peak", "subtract_and_exp", "total", "divide")]


# name: columns -> the launches that make it, each (kernel, grid, block, sizes and settings, bytes of shared memory)
LADDER = {
    "five passes": five_passes,
    "naive": lambda n: [("softmax_naive", ROWS // 32, 32, (ROWS, n))],
    "warp": lambda n: [("softmax_warp", ROWS // 4, (32, 4), (ROWS, n))],
    "block": lambda n: [("softmax_block", ROWS, 128, (n,))],
    "reread": lambda n: [("fused_reread_float32", ROWS, 128, (n, FACTOR, None, None, None))],
    "shared": lambda n: [("fused_shared_float32", ROWS, 128, (n, FACTOR, None, None, None), 4 * n)],
    "registers": lambda n: [("fused_registers_float32", ROWS // 4, (32, 4), (ROWS, n, FACTOR, None, None, None))],
}


def run(name, columns, source=None, device="emulated", **options):
    """The scores, the weights that a rung of the ladder gives, and the counts of its launches."""
    scores = np.random.default_rng(columns).normal(size=(ROWS, columns)).astype(np.float32)
    text = source or (FIVE_PASSES if name == "five passes" else SOURCE)
    x, y, per_row = (ta.Tensor(a, device=device).data for a in (scores, np.zeros_like(scores), np.zeros(ROWS, "f4")))
    counts = []
    for kernel, grid, block, sizes, *shared in LADDER[name](columns):
        tables = (x if kernel == "scale" else y, y, per_row) if name == "five passes" else (x, y)
        launch = kernels.load(text, device, **options).get_function(kernel)
        counts.append(launch(grid, block, (*tables, *sizes), *shared))
    return scores, ta.as_tensor(y).numpy(), counts


def reads_and_writes(name, columns):
    """Bytes that a rung moves through global memory for each number of the table."""
    _, _, counts = run(name, columns, checked=True)
    return [sum(c.moved(write) for c in counts) / (ROWS * columns) for write in (False, True)]


# %% [markdown]
# ## The ladder
#
# Predict the bytes that each moves for each number of the table, which has 4 bytes. Read the kernels in the file:
#
# * *five passes*: scale, peak, exp, total, divide. Five read the table, three write it.
# * *naive*: one thread a row. It reads the row three times and writes it once. Its neighbour reads another row.
# * *warp*: a warp a row. The *online* softmax finds peak and total in one pass; a second pass writes. *block*: likewise
#   with more threads.
# * *reread*: as block, and the scale comes along for nothing. *shared*: the row is kept in the block's shared memory,
#   *registers*: in the threads' registers, so that it is read once.

# %%
COLUMNS = 1024
PREDICTED = {  # passes that read, passes that write, sectors moved for each sector's worth of numbers
    "five passes": (5, 3, 1),
    "naive": (3, 1, 8),
    "warp": (2, 1, 1),
    "block": (2, 1, 1),
    "reread": (2, 1, 1),
    "shared": (1, 1, 1),
    "registers": (1, 1, 1),
}
predicted = {name: (4 * r * waste, 4 * w * waste) for name, (r, w, waste) in PREDICTED.items()}
counted = {name: reads_and_writes(name, COLUMNS) for name in LADDER}
ledger = {step.name: step for step in attention_costs((ROWS, 64), (COLUMNS, 64), (COLUMNS, 64)).forward}
step_3 = (ledger["3 softmax"].read + ledger["3 softmax"].written) / (ROWS * COLUMNS)

print(f"{'':12}  read  written  predicted, bytes for each number")
for name, (read, written) in counted.items():
    print(f"{name:12}{read:6.2f}{written:9.2f}  {predicted[name][0]} and {predicted[name][1]}")
off = {name: abs(sum(counted[name]) / sum(predicted[name]) - 1) for name in LADDER}
lesson.verdict(
    "reading the source tells how many bytes move",
    max(off.values()) < 0.01,
    f"off by at most {max(off.values()):.1%}, for the peak and the total of each row",
)
lesson.verdict(
    "scale and softmax in one kernel move what the ledger of lesson 07 gives the softmax alone",
    sum(counted["registers"]) == step_3,
    f"{sum(counted['registers']):g} bytes for each number, {step_3:g} in the ledger, "
    f"{sum(counted['five passes']):.3g} in five passes",
)

# %% [markdown]
# These counts know no cache. A GPU keeps recent sectors for a while, so the naive kernel may be spared some of its
# waste. The count ranks ways to access memory; it does not foretell seconds.
#
# ## The length of a row
#
# Is a thread a row always bad? Let a row have n numbers. The 32 threads of the naive kernel then touch numbers 4 n
# bytes apart: min(32, 4 n) sectors for 32 numbers. A warp a row touches ⌈n/8⌉ sectors for n numbers, even if it wants
# one number alone. Predict which moves less at n = 1, and where the curves cross.

# %%
LENGTHS = 2 ** np.arange(0, 11)
by_length = {
    name: np.array([sum(reads_and_writes(name, int(n))) for n in LENGTHS]) for name in ("naive", "warp", "registers")
}
sectors = np.ceil(LENGTHS / 8)
theory = {
    "naive": 4 * np.minimum(32, 4 * LENGTHS),  # 4 passes
    "warp": 3 * 32 * sectors / LENGTHS,  # 3 passes
    "registers": 2 * 32 * sectors / LENGTHS,  # 2 passes
}
exact = all(np.allclose(by_length[name], theory[name], rtol=1e-3) for name in theory)
at_one = {name: bytes_moved[0] for name, bytes_moved in by_length.items()}
lesson.verdict(
    "the sectors of each row length are as predicted",
    exact,
    f"{len(LENGTHS)} lengths from {LENGTHS[0]} to {LENGTHS[-1]}, three kernels",
)
lesson.verdict(
    "for rows of one number a thread a row moves least",
    at_one["naive"] < at_one["registers"],
    f"{at_one['naive']:g} bytes for each number, {at_one['registers']:g} with a warp a row; from n = 8 on "
    f"{by_length['naive'][3]:g} against {by_length['registers'][3]:g}",
)

# %%
figure, (left, right) = plot.axes(2, width=5.2)
places = np.arange(len(LADDER))
for series, side in enumerate(("read", "written")):
    for place, name in zip(places, LADDER, strict=True):
        line = "predicted" if series == 0 and place == 0 else None
        plot.theory(left, place + np.array([-0.35, 0.35]), np.full(2, predicted[name][series]), line)
    plot.measured(
        left,
        places + 0.16 * (2 * series - 1),
        [c[series] for c in counted.values()],
        label=f"{side}, counted",
        series=series,
    )
plot.label(
    left,
    title=f"{sum(counted['five passes']):.0f} bytes in five passes, {sum(counted['registers']):.0f} in one",
    y=f"bytes moved for each number, n = {COLUMNS:,}", log_y=2, ylim=(2.5, 200),
)  # fmt: skip
left.set_xticks(places, [name.replace(" ", "\n") for name in LADDER])
for series, name in enumerate(by_length):
    plot.theory(right, LENGTHS, theory[name], series=series)
    plot.measured(right, LENGTHS, by_length[name], label=name, series=series)
plot.theory(right, [], [], "lines: predicted")
plot.label(
    right,
    title=f"A thread a row: {at_one['naive']:.0f} bytes at n = 1, {by_length['naive'][-1]:.0f} from n = 8 on",
    x="numbers in a row n", y="bytes moved for each number", log_x=2, log_y=2, legend="center right",
)  # fmt: skip
lesson.save(
    figure,
    {
        "kernel": [*np.repeat(list(LADDER), 2), *np.repeat(list(by_length), len(LENGTHS))],
        "moves": ["read", "written"] * len(LADDER) + ["both"] * (len(by_length) * len(LENGTHS)),
        "columns": [COLUMNS] * (2 * len(LADDER)) + [*LENGTHS] * len(by_length),
        "predicted_bytes": [*np.ravel(list(predicted.values())), *np.ravel(list(theory.values()))],
        "counted_bytes": [*np.ravel(list(counted.values())), *np.ravel(list(by_length.values()))],
    },
)

# %% [markdown]
# ## The barrier
#
# In the block kernel each warp leaves its peak and total in shared memory, and every warp reads what the others left.
# Between the two stands `__syncthreads()`: nobody goes on before all have arrived. Take it out. Nothing else changes,
# and it still compiles.
#
# Who comes first is then a matter of luck. The emulator lets you choose: the warps in order, in reverse, or all threads
# at random. A block has 4 warps here. When they run in order, the first finds what it left itself and nothing more; how
# many find all? Predict the share of wrong weights.

# %%
BARRIER = "    __syncthreads();\n"
assert SOURCE.count(BARRIER) == 1
RACE = SOURCE.replace(BARRIER, "\n")
ORDERS = [("forward", 0), ("reverse", 0), *(("random", seed) for seed in range(1, 7))]


def wrong_share(source, order, seed):
    """The share of wrong weights, in the fast build, which checks nothing."""
    scores, weights, _ = run("block", 128, source, order=order, seed=seed)
    exact, _ = ta.softmax.forward(scores.astype(np.float64))
    return np.mean(~(np.abs(weights - exact) <= 1e-5 * exact))


WARPS = 4
in_turn = 1 - 1 / WARPS  # only the last warp to run finds what all have left
shares = {
    "with the barrier": [wrong_share(SOURCE, *order) for order in ORDERS],
    "without": [wrong_share(RACE, *order) for order in ORDERS],
}
faults = []
for order, seed in ORDERS:
    try:
        run("block", 128, RACE, checked=True, order=order, seed=seed)
    except emulator.KernelError as fault:
        faults.append(fault)
print(faults[0] if faults else "no fault was found")
lines = {SOURCE.splitlines()[fault.line - 1].strip() for fault in faults}
for line in sorted(lines):
    print("  at:", line)
lesson.verdict(
    "when warps run one after another, the last alone is right",
    shares["without"][:2] == [in_turn, in_turn],
    f"forward {shares['without'][0]:.0%} wrong, reverse {shares['without'][1]:.0%}, predicted {in_turn:.0%}",
)
lesson.verdict(
    "without the barrier the result depends on who comes first",
    not any(shares["with the barrier"]) and len(set(shares["without"])) > 1,
    f"{min(shares['without']):.0%} to {max(shares['without']):.0%} of the weights are wrong",
)
lesson.verdict(
    "the checked build finds the race in every order",
    len(faults) == len(ORDERS) and {fault.kind for fault in faults} == {"race"},
    f"{len(faults)} of {len(ORDERS)} orders, always at a line that touches `of_warp`",
)

# %% [markdown]
# How can it be sure, where a result may come out right by luck? It does not look at results. For each byte it keeps who
# wrote it and when, and what each thread has waited for since. A read of another thread's byte that no barrier orders
# after the write is a race, whether or not it went well this time.

# %%
figure, ax = plot.axes(width=6.4)
for series, (name, share) in enumerate(shares.items()):
    plot.measured(ax, np.arange(len(ORDERS)) + 0.1 * (2 * series - 1), 100 * np.array(share), label=name, series=series)
plot.theory(ax, [-0.5, 1.5], [100 * in_turn] * 2, "predicted: the last warp is right")
plot.theory(ax, [-0.5, len(ORDERS) - 0.5], [0, 0])
plot.label(
    ax,
    title=f"One line less: {min(shares['without']):.0%} to {max(shares['without']):.0%} wrong, by luck",
    x="order of the threads", y="wrong weights, %", ylim=(-5, 105), legend="center right",
)  # fmt: skip
ax.set_xticks(range(len(ORDERS)), [f"{order}\n{seed or ''}" for order, seed in ORDERS])
lesson.save(
    figure,
    {
        "order": [order for order, _ in ORDERS],
        "seed": [seed for _, seed in ORDERS],
        "wrong_with_barrier": shares["with the barrier"],
        "wrong_without": shares["without"],
    },
    suffix="_race",
)

# %% [markdown]
# ## The clock
#
# Seconds need a GPU: run this lesson with `--device cuda`. It then times each rung on a large table, beside its count.
# If kernels wait for memory alone, time goes by bytes.

# %%
if lesson.device == "cuda":
    ROWS, COLUMNS, CALLS = 65536, 1024, 20  # a table of 256 MiB

    def seconds(name):
        """Of one run: the median of several, each until the GPU is done."""
        x, y, per_row = (
            ta.Tensor(np.zeros(shape, "f4"), device="cuda").data for shape in ((ROWS, COLUMNS), (ROWS, COLUMNS), ROWS)
        )
        text = FIVE_PASSES if name == "five passes" else SOURCE
        launches = [
            (kernels.load(text, "cuda").get_function(kernel), grid, block, sizes, shared)
            for kernel, grid, block, sizes, *shared in LADDER[name](COLUMNS)
        ]
        taken = []
        for _ in range(CALLS + 2):
            ta.as_tensor(y[:1, :1]).numpy()
            start = time.perf_counter()
            for launch, grid, block, sizes, shared in launches:
                tables = (x, y, per_row) if name == "five passes" else (x, y)
                launch(grid, block, (*tables, *sizes), *shared)
            ta.as_tensor(y[:1, :1]).numpy()
            taken.append(time.perf_counter() - start)
        return np.median(taken[2:])

    times = {name: seconds(name) for name in LADDER}
    for name, taken in times.items():
        speed = sum(predicted[name]) * ROWS * COLUMNS / taken / 1e9
        print(f"{name:12}{taken * 1e3:8.3f} ms, {speed:7.0f} GB/s of what was counted")
    lesson.verdict(
        "one pass is faster than five in proportion to the bytes",
        math.isclose(times["five passes"] / times["registers"], 4, rel_tol=0.25),
        f"{times['five passes'] / times['registers']:.2f} times, 4 times the bytes",
    )
else:
    print("no GPU was asked for: the clock is left out")

# %% [markdown]
# ## To try
#
# * The naive kernel moves 8 times what it wants. Store the table with its columns one after another, and let thread i
#   read number i of each column: what do you predict? Change the kernel's text with `SOURCE.replace` and count.
# * Load a kernel of your own: `kernels.load(text, device="emulated", checked=True).get_function(name)(grid, block,
#   args)`. It returns what was moved, line by line: `for t in counts.lines: print(t)`.
# * Remove `if (row >= rows) return;` from `softmax_warp` and launch it with 62 rows. What does the emulator say?
