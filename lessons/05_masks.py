# %% [markdown]
# # 05 Masks
#
# Some keys must not be seen. Tokens of the future, when a model learns to predict the next one (a *causal* mask).
# Places that only fill up a batch of sentences of different lengths (a *padding* mask). A key that is not seen must
# have weight 0 and the others must share the whole 1.
#
# In tinyattn, as in PyTorch's `scaled_dot_product_attention`, a boolean mask says True = may attend. The scores at
# False become −∞ *before* the softmax: exp(−∞) is exactly 0, in every floating-point type. That is all.
#
# In this lesson you measure what goes wrong with each of the other ideas: 0 or a large negative number in place of −∞,
# numbers 0 and 1 that are added, weights set to 0 after the softmax. And you meet the row that has no key at all.

# %%
import csv
import math
from pathlib import Path

import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)
SEEDS = 16


def tensor(array, **options):
    return ta.Tensor(array, device=lesson.device, **options)


print("causal_mask(4):", ta.causal_mask(4).astype(int).tolist())
print("padding_mask([3, 1], 4):", ta.padding_mask([3, 1], 4).astype(int).tolist())

# %% [markdown]
# ## A number in place of −∞
#
# Let half of 256 keys be forbidden, and put −c in the place of their scores. The others are normal with variance 1, as
# the scale makes them. The weight that *leaks* to the forbidden keys is m e^(−c) / (m e^(−c) + Z) with m = 128 and Z =
# Σ e^score over the allowed keys, about 128 e^(1/2).
#
# A number smaller than half of the smallest that a type can hold becomes 0: 2^(−25) for float16, 2^(−150) for float32,
# 2^(−1075) for float64. So the leak should end at c = 25 ln 2 − ln Z in float16, and so on.
#
# Predict: how much leaks at c = 0? From which c on is nothing left, in each type?

# %%
KEYS, MASKED, QUERIES = 256, 128, 32
FILLS = 2 ** np.arange(0, 11.5, 0.5)  # c
# 2^-n rounds to 0; the CUDA kernels already take float32 numbers below 2^-126 for 0, which saves time on a GPU
SMALLEST = {"float16": 25, "float32": 150 if lesson.device == "cpu" else 126, "float64": 1075}
Z = (KEYS - MASKED) * math.exp(0.5)
keep = np.arange(KEYS) < KEYS - MASKED


def leak(fill, dtype, seed):
    """The weight of all forbidden keys together, averaged over the queries."""
    scores = tensor(np.random.default_rng(seed).normal(size=(QUERIES, KEYS)), dtype=dtype)
    weights = ta.softmax(ta.where(keep, scores, tensor(-fill, dtype=dtype))).numpy()
    return weights[:, ~keep].astype(float).sum(axis=-1).mean()


def leak_theory(fill):
    return MASKED * np.exp(-fill) / (MASKED * np.exp(-fill) + Z)


fills = {dtype: FILLS * 2 ** (i / 6) for i, dtype in enumerate(SMALLEST)}  # a third of a step apart, to be told apart
leaks = {dtype: np.array([[leak(c, dtype, s) for c in fills[dtype]] for s in range(SEEDS)]) for dtype in SMALLEST}
at_zero = np.mean([leak(0, "float64", seed) for seed in range(SEEDS)])
lesson.verdict(
    "0 in place of a score hides nothing: forbidden keys count as average ones",
    abs(at_zero / leak_theory(0) - 1) < 0.05,
    f"{at_zero:.3f} of the weight leaks, theory {leak_theory(0):.3f}",
)
for dtype, bits in SMALLEST.items():
    ends = bits * math.log(2) - math.log(Z)
    c, measurement = fills[dtype], leaks[dtype]
    none_left, still_there = c[(measurement == 0).all(axis=0)].min(), c[(measurement > 0).all(axis=0)].max()
    before = c / ends < 0.9
    off = np.abs(np.log(measurement[:, before].mean(axis=0) / leak_theory(c[before]))).max()
    lesson.verdict(
        f"in {dtype} the leak is as predicted, and is exactly 0 from some c on",
        off < 0.15 and 0.95 * ends < none_left and still_there < 1.05 * ends,
        f"theory c = {ends:.1f}; measured between {still_there:.1f} and {none_left:.1f}; "
        f"before that, within {math.expm1(off):.1%}",
    )

# %% [markdown]
# So −10⁹ hides perfectly? For these rows, yes. Keep two questions in mind: what is −10⁹ in float16, whose largest
# number is 65,504? And what if *every* score of a row is −10⁹?
#
# ## Zeros and ones that are added
#
# A mask of numbers is *added* to the scores. A triangle of ones (may attend) and zeros (may not) is then no mask at
# all: it multiplies the weight of an allowed key by e before the row is divided by its sum, and nothing else. With
# half of the keys forbidden, predict their share.

# %%
added = keep.astype(float)
shares = [
    ta.softmax(ta.mask(tensor(np.random.default_rng(seed).normal(size=(QUERIES, KEYS))), added)).numpy()[:, ~keep]
    for seed in range(SEEDS)
]
share = np.mean([w.sum(axis=-1).mean() for w in shares])
lesson.verdict(
    "a mask of ones and zeros in floating point does not mask",
    abs(share - 1 / (1 + math.e)) < 0.01,
    f"forbidden keys keep {share:.3f} of the weight, theory 1/(1 + e) = {1 / (1 + math.e):.3f}",
)
try:
    ta.mask(tensor(np.zeros((2, 2))), np.tri(2, dtype=int))
except TypeError as error:
    print("whole numbers could mean either, so they are refused:", error)

# %% [markdown]
# ## After the softmax
#
# Why not set the forbidden weights to 0 once the softmax is done? Because the rest no longer sums to 1. Under a causal
# mask query i may see i of n keys. All weights have the same mean before the mask, 1/n, so what is left sums to i/n on
# average: early tokens get short outputs.
#
# One could divide by what is left. On paper that is the same as −∞. In a computer, let one forbidden key have a score
# g above the others: the allowed weights are about e^(−g) before they are divided. Rounding score − g to float32 costs
# half of the spacing of its numbers near g, in the weight and again in the sum. From e^(−g) < 2^(−126) on, numbers
# lose digits, since their steps stay 2^(−149); at last all are 0, and 0/0 is NaN.
#
# Predict the g at which that happens.

# %%
N, TABLES = 32, 64
causal = ta.causal_mask(N)


def left_over(seed):
    """Per query, the sum of the causal weights when the rest is set to 0 after the softmax."""
    rng = np.random.default_rng(seed)
    query, key = (tensor(rng.normal(size=(TABLES, N, 16))) for _ in "qk")
    weights = ta.softmax(ta.scale(ta.scores(query, key), factor=1 / 4))
    return (weights * causal).sum(axis=-1).numpy().mean(axis=0)


sums = np.array([left_over(seed) for seed in range(SEEDS)])
visible = np.arange(1, N + 1)
worst = np.abs(sums.mean(axis=0) - visible / N).max()
lesson.verdict(
    "weights set to 0 after the softmax leave i/n for query i",
    worst < 0.02 and abs(sums[:, -1] - 1).max() < 1e-12,
    f"{sums[:, 0].mean():.3f} for the first of {N} queries, theory {1 / N:.3f}; at most {worst:.3f} off",
)

GAPS = np.arange(4, 121, 4)


def renormalised_error(gap, seed):
    """Largest relative error of the 8 allowed weights in float32; NaN where they are 0/0."""
    scores = np.append(np.random.default_rng(seed).normal(size=(QUERIES, 8)), np.full((QUERIES, 1), gap), axis=-1)
    allowed = np.arange(9) < 8
    exact = ta.softmax(ta.mask(tensor(scores), allowed)).numpy()[:, :8]
    after = ta.softmax(tensor(scores, dtype=np.float32)).numpy()[:, :8]
    with np.errstate(invalid="ignore"):
        after = after / after.sum(axis=-1, keepdims=True)
    return np.max(np.abs(after / exact - 1))


errors = np.array([[renormalised_error(gap, seed) for gap in GAPS] for seed in range(SEEDS)])
smallest_weight = np.exp(-GAPS - 3.0)  # of 8 normal scores for each of 32 queries the smallest is near −3
underflow = 2.0 ** -SMALLEST["float32"] / smallest_weight
bound = np.spacing(np.float32(GAPS + 3)) + 4 * 2.0**-24 + 2 * underflow
lost = SMALLEST["float32"] * math.log(2)
nan_from = GAPS[np.isnan(errors).all(axis=0)].min()
lesson.verdict(
    "dividing by what is left works until the allowed weights underflow",
    abs(nan_from - lost) < 8 and np.nanmax(errors / bound) < 1,
    f"0/0 in every run from g = {nan_from} on, theory {lost:.0f}; at g = 80 the error is "
    f"{np.median(errors[:, GAPS == 80]):.1g}",
)

# %%
figure, (left, middle, right) = plot.axes(3)
TOP = 1500  # where a leak of exactly 0 is drawn


def digits(fill):
    """−log10 of the theory, also where e^(−c) itself is out of range."""
    return (fill + np.log((MASKED * np.exp(-fill) + Z) / MASKED)) / math.log(10)


plot.theory(left, FILLS, digits(FILLS), "theory")
for series, (dtype, measurement) in enumerate(leaks.items()):
    with np.errstate(divide="ignore"):
        hidden = np.minimum(-np.log10(measurement), TOP * 1.6**series)
    plot.measured(left, fills[dtype], hidden, label=dtype, series=series)
plot.note(left, FILLS[0], TOP * 1.6, "exactly 0", va="center")
plot.label(
    left,
    title="A fill −c leaks $e^{-c}$ until that underflows",
    x="c, where −c takes the place of a score",
    y="leaked weight: $-\\log_{10}$",
    log_x=4,
    log_y=10,
    legend="lower right",
)

plot.theory(middle, visible, visible / N, "theory: i/n")
plot.measured(middle, visible, sums, label="set to 0 after the softmax")
plot.theory(middle, visible, np.ones(N), "what weights must sum to", series=1)
plot.label(
    middle,
    title=f"Masked after the softmax: first row sums to {sums[:, 0].mean():.2f}",
    x=f"query i of n = {N}", y="sum of its weights", ylim=(0, 1.1), legend="lower right",
)  # fmt: skip

finite = ~np.isnan(errors).any(axis=0)
plot.theory(right, GAPS[bound < 10], bound[bound < 10], "bound")
plot.measured(right, GAPS[finite], errors[:, finite], label="divided by the rest")
right.axvspan(lost, GAPS[-1], color="#eeeeee", zorder=0)
plot.note(right, (lost + GAPS[-1]) / 2, 1e-4, "0/0", ha="center")
plot.label(
    right,
    title=f"… then divided by the rest: NaN from g = {nan_from}",
    x="g, forbidden score above the allowed", y="relative error, float32", log_y=10, legend="upper left",
)  # fmt: skip


def columns(panel, case, x, samples, theory):
    """One curve as rows of the CSV."""
    band = plot.spread(samples)
    return [[panel, case, *row] for row in zip(x, theory, *band, strict=True)]


rows = [row for dtype in leaks for row in columns("leak", dtype, fills[dtype], leaks[dtype], leak_theory(fills[dtype]))]
rows += columns("left over", "float64", visible, sums, visible / N)
rows += columns("divided", "float32", GAPS, errors, bound)
lesson.save(
    figure, dict(zip(("panel", "case", "x", "theory", "median", "low", "high"), zip(*rows, strict=True), strict=True))
)

# %% [markdown]
# ## Who influences whom
#
# A causal model must not read the future, not even a little: it would learn to cheat. The gradient tells. Send a
# random gradient into output i alone, and look at what arrives at key and value j. Above the diagonal (j > i) all must
# be 0.
#
# Predict which of these four is causal. Mind the softmax's denominator: it adds up the scores of *all* keys.

# %%
TOKENS, WIDTH = 5, 8
triangle = ta.causal_mask(TOKENS)


def after_softmax(query, key, value):
    weights = ta.attention_steps(query, key, value).weights
    return ta.weighted_sum(weights * triangle.astype(np.float32), value)


ways = {
    "boolean mask, −∞": lambda q, k, v: ta.attention_steps(q, k, v, triangle).output,
    "−10⁹ added": lambda q, k, v: ta.attention_steps(q, k, v, np.where(triangle, 0, -1e9).astype(np.float32)).output,
    "0 after the softmax": after_softmax,
    "0 and 1 added": lambda q, k, v: ta.attention_steps(q, k, v, triangle.astype(np.float32)).output,
}


def influence(attention, seed):
    """(i, j): length of the gradient that reaches key j and value j from output i."""
    rng = np.random.default_rng(seed)
    query, key, value = (tensor(rng.normal(size=(TOKENS, WIDTH)), dtype=np.float32, requires_grad=True) for _ in "qkv")
    upstream = rng.normal(size=(TOKENS, WIDTH)).astype(np.float32)
    output = attention(query, key, value)
    table = np.empty((TOKENS, TOKENS))
    for i in range(TOKENS):
        key.zero_grad(), value.zero_grad()
        output.backward(tensor(upstream * (np.arange(TOKENS) == i)[:, None]))
        gradients = [ta.as_tensor(x.grad).numpy() for x in (key, value)]
        table[i] = np.sqrt(sum((g**2).sum(axis=-1) for g in gradients))
    return table


tables = {way: np.array([influence(attention, seed) for seed in range(SEEDS)]) for way, attention in ways.items()}
future = {way: table[:, ~triangle].max() for way, table in tables.items()}
lesson.verdict(
    "with −∞, and with −10⁹ where a row has a key, nothing comes from the future",
    future["boolean mask, −∞"] == 0 and future["−10⁹ added"] == 0,
    f"largest gradient above the diagonal {future['boolean mask, −∞']:g} and {future['−10⁹ added']:g}",
)
lesson.verdict(
    "setting weights to 0 after the softmax, or adding 0 and 1, lets the future in",
    future["0 after the softmax"] > 0.01 and future["0 and 1 added"] > 0.01,
    f"largest gradient above the diagonal {future['0 after the softmax']:.2f} and {future['0 and 1 added']:.2f}",
)

# %%
figure, panels = plot.axes(4, columns=2, width=3.6, height=3.4)
for ax, (way, table) in zip(panels, tables.items(), strict=True):
    plot.heatmap(ax, table.mean(axis=0), low=0, high=1.5)
    middle_of_future = np.median(table[:, ~triangle])
    plot.label(ax, title=f"{way}: {middle_of_future:.2g} from the future", x="key and value j", y="output i")
i, j = (index.ravel() for index in np.indices((TOKENS, TOKENS)))
lesson.save(
    figure,
    {
        "mask": np.repeat(list(tables), TOKENS**2),
        "output": np.tile(i, len(tables)),
        "key": np.tile(j, len(tables)),
        "gradient": np.concatenate([table.mean(axis=0).ravel() for table in tables.values()]),
    },
    suffix="_influence",
)

# %% [markdown]
# ## Padding
#
# A batch holds sentences of 7, 4 and 1 words, filled up to 7. With a padding mask each sentence must get what it gets
# alone. Two things to know. The mask speaks of keys: the filled-up places still ask as *queries*, and their outputs
# are rubbish that the loss must leave out. And the opposite convention exists: for `torch.nn.MultiheadAttention`, True
# means may *not* attend.

# %%
lengths, longest = [7, 4, 1], 7
rng = np.random.default_rng(0)
query, key, value = (tensor(rng.normal(size=(len(lengths), 1, longest, 6))) for _ in "qkv")
padding = ta.padding_mask(lengths, longest)


def difference(attn_mask):
    """Largest difference between a sentence within the batch and the same sentence alone."""
    together = ta.scaled_dot_product_attention(query, key, value, attn_mask)
    alone = [
        ta.scaled_dot_product_attention(*(x[b, :, :n] for x in (query, key, value))) for b, n in enumerate(lengths)
    ]
    return max(np.abs(together[b, :, :n].numpy() - alone[b].numpy()).max() for b, n in enumerate(lengths))


lesson.verdict(
    "with a padding mask a sentence gets what it gets alone",
    difference(padding) < 1e-12 < difference(None),
    f"difference {difference(padding):.1e}; with no mask {difference(None):.2f}, with the mask inverted "
    f"{difference(~padding):.2f}",
)

# %% [markdown]
# ## A row with no key
#
# A sentence of length 0, or a causal mask with more queries than keys that is aligned to the lower right: some query
# may attend to nothing. What should it get? softmax of −∞ alone is 0/0. A sum over no keys is 0, says mathematics;
# libraries disagree. `lessons/data/05_masks.csv` holds what some of them gave, written by the script beside it: query
# 0 may attend to keys 0 and 1, query 1 to none, and the values are the identity, so that the output shows the weights.
#
# Predict what −10⁹ gives when it is put in place of all four scores, and when it is added to them, in float32 (its
# steps near 10⁹ are 64 wide), float64 (10⁻⁷) and float16 (largest number 65,504).

# %%
query, key = (
    np.array([[1, 0, -1, 2], [2, 1, 0, 1]]),
    np.array([[1, 1, 0, 1], [0, 2, 1, 0], [2, 0, 1, -1], [-1, 1, 0, 2]]),
)
keep = np.array([[True, True, False, False], [False] * 4])
scores = query @ key.T / 2


def textbook(scores):
    """softmax as it is often written, with no thought of such rows."""
    with np.errstate(invalid="ignore"):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)


def with_added(dtype):
    with np.errstate(over="ignore"):
        return textbook(scores.astype(dtype) + np.where(keep, 0, -1e9).astype(dtype))


with np.errstate(invalid="ignore"):
    zeroed = textbook(scores) * keep
    divided = zeroed / zeroed.sum(axis=-1, keepdims=True)
leaf = tensor(query, dtype=float, requires_grad=True)
output = ta.scaled_dot_product_attention(leaf, tensor(key, dtype=float), tensor(np.eye(4)), tensor(keep))
output.sum().backward()
own = {
    "tinyattn: boolean mask": output.detach().numpy(),
    "−∞ in place, textbook softmax": textbook(np.where(keep, scores, -np.inf)),
    "−10⁹ in place, float32": textbook(np.where(keep, scores, -1e9).astype(np.float32)),
    "−10⁹ added, float16": with_added(np.float16),
    "−10⁹ added, float32": with_added(np.float32),
    "−10⁹ added, float64": with_added(np.float64),
    "0 after the softmax": zeroed,
    "0 after the softmax, divided by the rest": divided,
}
results = {name: weights[1] for name, weights in own.items()}
with (Path(__file__).parent / "data" / "05_masks.csv").open(newline="", encoding="utf-8") as file:
    for library in csv.DictReader(file):
        name = f"{library['library']} {library['version']}: {library['function']}"
        results[name] = np.array([float(library[f"key {j}"]) for j in range(4)])

kinds = {"zeros": 0, "an average of forbidden values": 0, "NaN": 0}
for name in list(results)[len(own) :]:
    weights = results[name]
    kinds["NaN" if np.isnan(weights).any() else "an average of forbidden values" if weights.any() else "zeros"] += 1
lesson.verdict(
    "here a query with no key gets zeros, and sends back a gradient of zeros",
    not output.detach().numpy()[1].any() and not ta.as_tensor(leaf.grad).numpy()[1].any(),
    f"output {output.detach().numpy()[1]}, gradient {ta.as_tensor(leaf.grad).numpy()[1]}",
)
lesson.verdict(
    "libraries do not agree on a query with no key",
    sum(count > 0 for count in kinds.values()) > 1,
    ", ".join(f"{kind}: {count}" for kind, count in kinds.items()) + f", of {sum(kinds.values())} functions",
)
unmasked = textbook(scores)[1]
lesson.verdict(
    "added to all scores of a row, −10⁹ gives an average over forbidden keys, in float64 that of no mask at all",
    np.allclose(results["−10⁹ added, float64"], unmasked, atol=1e-6) and np.ptp(results["−10⁹ added, float32"]) == 0,
    f"float64 {results['−10⁹ added, float64'].round(3)}, no mask {unmasked.round(3)}, "
    f"float32 {results['−10⁹ added, float32']}, float16 {results['−10⁹ added, float16']}",
)

# %%
figure, ax = plot.axes(width=8, height=6)
plot.heatmap(ax, list(results.values()), rows=results, columns=[f"key {j}" for j in range(4)], low=0, high=0.5)
ax.set_aspect("auto")
plot.label(ax, title=f"No key: {kinds['zeros']} of {sum(kinds.values())} library functions give zeros")
lesson.save(
    figure,
    {"way": list(results), **{f"key {j}": [weights[j] for weights in results.values()] for j in range(4)}},
    suffix="_no_key",
)

# %% [markdown]
# ## To try
#
# * Raise the scores: let them have variance 100 instead of 1. How does the leak of a fill −c change? Which c is safe?
# * In `influence`, mask with `ta.window_mask(TOKENS, left=1, right=0)`. Which entries remain?
# * Attend with `ta.padding_mask([7, 4, 0], longest)`. What are the outputs of the third sentence, and their gradients?
