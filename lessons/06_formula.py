# %% [markdown]
# # 06 The formula, read from right to left
#
#     Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V
#
# Read from left to right it starts with queries and keys, and what it is for comes last. Read from right to left it
# says: take the *values* V; average them; the weights of the average come from the softmax; which gets them from
# scores; which come from queries and keys.
#
# In this lesson you follow that path and measure what it implies: outputs stay among the values, an average over many
# values is small, the order of the tokens does not matter. At the end you compare outputs and gradients with
# PyTorch's.

# %%
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


# %% [markdown]
# ## Values, and what weights do to them
#
# Three values. A weight of 1 picks one of them. Equal weights give their mean. Any positive weights that sum to 1 give
# a point between them. The softmax makes such weights from any scores, and equal scores from a query of zeros, that
# asks for nothing.

# %%
value = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
for weights in ([0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25]):
    print(
        "weights",
        np.round(weights, 2),
        "give",
        ta.weighted_sum(tensor([weights], dtype=float), tensor(value)).numpy()[0],
    )

rng = np.random.default_rng(0)
key, values = rng.normal(size=(9, 5)), rng.normal(size=(9, 6))
from_zeros = ta.scaled_dot_product_attention(tensor(np.zeros((1, 5))), tensor(key), tensor(values)).numpy()
lesson.verdict(
    "a query of zeros gets the mean of the values",
    np.allclose(from_zeros, values.mean(axis=0), rtol=0, atol=1e-14),
    f"largest difference {np.abs(from_zeros - values.mean(axis=0)).max():.1e}",
)

# %% [markdown]
# ## Inside the hull
#
# The *convex hull* of some points is what a rubber band around them encloses: all their averages with positive weights
# that sum to 1. So no query, however it is chosen, gets an output outside. Attention selects and mixes; to get
# anywhere else it needs the layers around it.
#
# Take 12 values in the plane and 200 queries. Predict which of these keep the outputs inside: softmax weights;
# exp(score) without dividing by the sum; scores divided by their sum (they sum to 1, but some are negative).

# %%
QUERIES, KEYS = 200, 12


def corners(points):
    """The hull's corners, counterclockwise: the farthest points in each of many directions."""
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    farthest = np.argmax(np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ points.T, axis=-1)
    return points[list(dict.fromkeys(farthest.tolist()))]


def inside(outputs, points):
    """Which outputs lie left of every edge of the points' hull, or on it but for rounding."""
    start = corners(points)
    edge, to_output = np.roll(start, -1, axis=0) - start, outputs[:, None] - start
    return (edge[:, 0] * to_output[..., 1] - edge[:, 1] * to_output[..., 0] >= -1e-9).all(axis=-1)


averages = {
    "softmax": ta.softmax,
    "exp, not divided": lambda scores: ta.exp(scores - ta.mean(scores)) / KEYS,
    "scores / their sum": lambda scores: scores / scores.sum(axis=-1, keepdims=True),
}


def plane(seed, spread=2.0):
    """Scores (QUERIES, KEYS) of some spread, and values in the plane."""
    rng = np.random.default_rng(seed)
    query, key, value = rng.normal(size=(QUERIES, 8)), rng.normal(size=(KEYS, 8)), rng.normal(size=(KEYS, 2))
    return ta.scale(ta.scores(tensor(query), tensor(key)), factor=spread / math.sqrt(8)), value


share_inside = dict.fromkeys(averages, 0.0)
for name, weights_of in averages.items():
    for seed in range(SEEDS):
        scores, value = plane(seed)
        outputs = ta.weighted_sum(weights_of(scores), tensor(value)).numpy()
        share_inside[name] += inside(outputs, value).mean() / SEEDS
lesson.verdict(
    "softmax weights keep every output inside the hull of the values",
    share_inside["softmax"] == 1,
    f"{share_inside['softmax']:.1%} of {SEEDS * QUERIES} outputs inside",
)
lesson.verdict(
    "it takes both: weights that are positive and weights that sum to 1",
    max(share_inside["exp, not divided"], share_inside["scores / their sum"]) < 0.95,
    f"inside are {share_inside['exp, not divided']:.0%} without the sum, {share_inside['scores / their sum']:.0%} with "
    "negative weights",
)

# %% [markdown]
# ## How much an average shrinks
#
# Independent values of variance 1, averaged with weights w: the variance of the result is Σ w². For equal weights that
# is 1/n; for one weight of 1 it is 1. So 1/Σ w² is the number of keys that a query *effectively* looks at.
#
# Let n = 256 scores be normal with standard deviation σ. Then w = e^s / Σ e^s. For large n, Σ e^s ≈ n e^(σ²/2) and Σ
# e^(2s) ≈ n e^(2σ²), so that Σ w² ≈ e^(σ²)/n. How large must n be? Most of the mean of e^(2s) comes from scores about
# 2σ standard deviations out. Of n scores the farthest is √(2 ln n) = 3.3 of them out. So expect this to hold for σ
# well below 1.7, and Σ w² to go to 1 beyond.
#
# Predict: at which σ does a query look at half of the keys? The scale of lesson 03 gives σ = 1: how many then?

# %%
N = 256
SIGMAS = np.arange(0, 8.25, 0.5)


def shrinking(sigma, seed):
    """(variance of the outputs, mean of sum(w^2)) for scores of that standard deviation."""
    rng = np.random.default_rng([seed, int(2 * sigma)])
    scores, value = sigma * rng.normal(size=(64, 8, N)), rng.normal(size=(64, N, 32))
    weights = ta.softmax(tensor(scores))
    return ta.weighted_sum(weights, tensor(value)).numpy().var(), (weights.numpy() ** 2).sum(axis=-1).mean()


runs = np.array([[shrinking(sigma, seed) for sigma in SIGMAS] for seed in range(SEEDS)])
variances, squares = runs[..., 0], runs[..., 1]
approximation = np.exp(SIGMAS**2) / N
relative = variances / squares - 1
lesson.verdict(
    "the variance of an output is the sum of its squared weights",
    np.abs(relative.mean(axis=0)).max() < 0.05,
    f"they differ by at most {np.abs(relative.mean(axis=0)).max():.1%}, from σ = 0 to {SIGMAS[-1]:g}",
)
near = SIGMAS <= 1
off = np.abs(squares.mean(axis=0) / approximation - 1)
lesson.verdict(
    "for small σ, Σ w² = e^(σ²)/n, and no longer where 2σ > √(2 ln n)",
    off[near].max() < 0.1 and off[SIGMAS == 3] > 0.5,
    f"off by {off[near].max():.0%} up to σ = 1, {off[SIGMAS == 1.5][0]:.0%} at 1.5, {off[SIGMAS == 3][0]:.0%} at 3",
)
effective = 1 / squares.mean(axis=0)
print(
    f"keys that a query effectively looks at: {effective[0]:.0f} at σ = 0, {effective[SIGMAS == 1][0]:.0f} at σ = 1, ",
    end="",
)
print(f"{effective[SIGMAS == 4][0]:.1f} at σ = 4")

# %% [markdown]
# ## Order does not matter
#
# A sum does not mind the order of its terms. Shuffle keys and values together: the outputs stay the same (*permutation
# invariance*). Shuffle all tokens of a sentence that attends to itself: the outputs are shuffled likewise
# (*permutation equivariance*). Without a mask or positions, attention sees a bag of words.
#
# What does change the outputs: keys shuffled without their values; a causal mask; positions that are added to the
# tokens. Predict the size of the smallest change that is not 0. (Floating-point sums do mind the order, a little.)

# %%
changes = {
    "keys and values": lambda q, k, v, p, _: ta.scaled_dot_product_attention(q, k[p], v[p]),
    "all tokens, undone": lambda q, k, v, p, undo: ta.scaled_dot_product_attention(q[p], k[p], v[p])[undo],
    "keys alone": lambda q, k, v, p, _: ta.scaled_dot_product_attention(q, k[p], v),
    "all tokens, causal": lambda q, k, v, p, undo: ta.scaled_dot_product_attention(q[p], k[p], v[p], is_causal=True)[
        undo
    ],
}
TOKENS = 24


def change(shuffled, seed):
    """Largest change of an output, relative to the largest output."""
    rng = np.random.default_rng(seed)
    q, k, v = (tensor(rng.normal(size=(TOKENS, 8))) for _ in "qkv")
    order = rng.permutation(TOKENS)
    causal = shuffled is changes["all tokens, causal"]
    before = ta.scaled_dot_product_attention(q, k, v, is_causal=causal).numpy()
    return np.abs(shuffled(q, k, v, order, np.argsort(order)).numpy() - before).max() / np.abs(before).max()


moved = np.array([[change(shuffled, seed) for shuffled in changes.values()] for seed in range(SEEDS)])
floor = np.maximum(moved, 2.0**-56)  # a change of exactly 0 has no place on a logarithmic axis
lesson.verdict(
    "shuffled keys with their values, or all tokens: nothing but rounding changes",
    moved[:, :2].max() < 1e-13,
    f"at most {moved[:, :2].max():.1e}",
)
lesson.verdict(
    "keys without their values, or a causal mask, make the order matter",
    moved[:, 2:].min() > 0.1,
    f"at least {moved[:, 2:].min():.2f} of the largest output",
)

# %%
figure, (left, middle, right) = plot.axes(3)
scores, value = plane(3)
hull = corners(value)
plot.theory(left, *np.append(hull, hull[:1], axis=0).T, "their hull")
for series, (name, weights_of) in reversed(list(enumerate(averages.items()))):
    outputs = ta.weighted_sum(weights_of(scores), tensor(value)).numpy()
    plot.measured(left, *outputs[::4].T, label=f"{name}: {share_inside[name]:.0%} inside", series=series)
plot.measured(left, *value.T, label="values", series=3)
plot.label(
    left,
    title=f"Softmax: {share_inside['softmax']:.0%} of the outputs inside the hull",
    x="first component", y="second component", xlim=(-3, 3), ylim=(-3.2, 6), legend="upper right",
)  # fmt: skip

plot.theory(middle, SIGMAS, squares.mean(axis=0), "theory: Σ w²")
few = approximation <= 1
plot.theory(middle, SIGMAS[few], approximation[few], "$e^{\\sigma^2}/n$", series=1)
plot.measured(middle, SIGMAS, variances, label="variance of the output")
plot.label(
    middle,
    title=f"At σ = 1 a query looks at {effective[SIGMAS == 1][0]:.0f} of {N} keys",
    x="standard deviation σ of the scores", y="variance of the output", log_y=10, ylim=(2e-3, 2), legend="lower right",
)  # fmt: skip

place = np.arange(len(changes))
plot.theory(right, [-0.5, 3.5], [2.0**-53] * 2, "rounding, float64")
plot.measured(right, place, *plot.spread(floor), label="change of the output", bars=True)
plot.label(
    right,
    title=f"Shuffled: {np.median(moved[:, :2]):.0e}, but keys alone, or causal: {np.median(moved[:, 2:]):.1f}",
    y="largest change / largest output", log_y=100, ylim=(1e-17, 20), xlim=(-0.5, 3.5), legend="upper left",
)  # fmt: skip
right.set_xticks(place, [name.replace(" ", "\n", 1).replace(", ", ",\n") for name in changes])

rows = [["inside the hull", name, "", share, share, share] for name, share in share_inside.items()]
rows += [["variance", "", *row] for row in zip(SIGMAS, *plot.spread(variances), strict=True)]
rows += [["sum of w^2", "", *row] for row in zip(SIGMAS, *plot.spread(squares), strict=True)]
rows += [["shuffled", *row] for row in zip(changes, [""] * 4, *plot.spread(floor), strict=True)]
names = ("panel", "case", "sigma", "median", "low", "high")
lesson.save(figure, dict(zip(names, zip(*rows, strict=True), strict=True)))

# %% [markdown]
# ## The same as PyTorch?
#
# `lessons/data/06_formula.npz` holds what PyTorch's `scaled_dot_product_attention` made of some inputs: the output and
# the gradients of query, key and value, with no mask and with masks of three kinds, in three dtypes; the script beside
# it made them. Two programs that add in different orders cannot agree to the last bit. A sum of n terms may be off by
# n/2 units of rounding; an output comes from sums of E and S terms, a gradient from three such sums. So differences of
# a few *eps* are to be expected, where 1 + eps is the number that follows 1, and E + S = 14 of them would be a lot.

# %%
stored = np.load(Path(__file__).parent / "data" / "06_formula.npz")
KINDS = {"none": {}, "causal": {"is_causal": True}, "boolean": {"attn_mask": stored["keep"]}, "floating": {}}
NAMES = ("output", "query", "key", "value")


def ours(kind, dtype):
    """The output, and the gradients of query, key and value."""
    leaves = [tensor(stored[name], dtype=dtype, requires_grad=True) for name in NAMES[1:]]
    options = {"attn_mask": tensor(stored["bias"], dtype=dtype)} if kind == "floating" else KINDS[kind]
    output = ta.scaled_dot_product_attention(*leaves, **options)
    output.backward(tensor(stored["upstream"], dtype=dtype))
    return [output.detach().numpy(), *(ta.as_tensor(leaf.grad).numpy() for leaf in leaves)]


def distance(kind, dtype):
    """The largest difference from PyTorch, in eps of the array's largest entry, for each of NAMES."""
    theirs = [stored[f"{kind}/{dtype}/{name}"].astype(float) for name in NAMES]
    return [
        np.abs(a.astype(float) - b).max() / np.abs(b).max() / np.finfo(dtype).eps
        for a, b in zip(ours(kind, dtype), theirs, strict=True)
    ]


DTYPES = ("float64", "float32", "float16")
distances = {dtype: np.array([distance(kind, dtype) for kind in KINDS]) for dtype in DTYPES}
most = stored["key"].shape[-1] + stored["key"].shape[-2]
for dtype in DTYPES:
    lesson.verdict(
        f"in {dtype} output and gradients are PyTorch's",
        distances[dtype].max() < most,
        f"at most {distances[dtype].max():.1f} eps from those of PyTorch {stored['version']}, over {len(KINDS)} masks",
    )

# %% [markdown]
# ## All three gradients
#
# Agreement proves little if both are wrong in the same way. The definition of a derivative does not care who
# programmed it: move one entry by h and see how the loss changes. A *central difference* moves it both ways. Here for
# every entry of query, key and value; and, beside it, for a softmax whose author believed that each weight depends on
# its own score alone, and forgot the row sum.


# %%
@ta.op
def careless_softmax(scores):
    weights, _ = ta.softmax.forward(scores)
    return weights, (lambda grad: weights * grad,)


def attention_with(softmax):
    def attention(query, key, value):
        return ta.weighted_sum(softmax(ta.scale(ta.scores(query, key), factor=query.shape[-1] ** -0.5)), value)

    return attention


points = [stored[name] for name in NAMES[1:]]


def loss(attention, arrays):
    return (attention(*(tensor(a, requires_grad=True) for a in arrays)) * tensor(stored["upstream"])).sum()


def backward_gradients(attention):
    leaves = [tensor(a, requires_grad=True) for a in points]
    attention(*leaves).backward(tensor(stored["upstream"]))
    return np.concatenate([ta.as_tensor(leaf.grad).numpy().ravel() for leaf in leaves])


def central_differences(attention, h=1e-5):
    result = []
    for which, array in enumerate(points):
        for index in np.ndindex(array.shape):
            side = []
            for step in (h, -h):
                moved_points = [a.copy() for a in points]
                moved_points[which][index] += step
                side.append(loss(attention, moved_points).item())
            result.append((side[0] - side[1]) / (2 * h))
    return np.array(result)


expected = central_differences(attention_with(ta.softmax))
right_way, wrong_way = (
    backward_gradients(attention_with(ta.softmax)),
    backward_gradients(attention_with(careless_softmax)),
)
error = np.abs(right_way - expected).max()
wrong = np.abs(wrong_way - expected) > 1e-6
of_values = np.arange(len(expected)) >= points[0].size + points[1].size
lesson.verdict(
    "backward gives the derivative, for every entry of query, key and value",
    error < 1e-8 and ta.gradcheck(ta.scaled_dot_product_attention, *points),
    f"{len(expected)} entries, largest difference {error:.1e}; gradcheck agrees",
)
lesson.verdict(
    "without its row sum the softmax spoils the gradients of query and key, and not that of value",
    wrong[~of_values].mean() > 0.9 and not wrong[of_values].any(),
    f"{wrong[~of_values].mean():.0%} of query's and key's entries wrong, {wrong[of_values].mean():.0%} of value's",
)
try:
    ta.gradcheck(careless_softmax, rng.normal(size=(2, 3)))
except ta.GradcheckError as mistake:
    print("gradcheck:", mistake)

# %%
figure, (left, right) = plot.axes(2)
places = np.arange(len(NAMES))
for series, dtype in enumerate(DTYPES):
    plot.measured(
        left, places + 0.2 * (series - 1), *plot.spread(distances[dtype], 1), label=dtype, series=series, bars=True
    )
plot.theory(left, [-0.5, 3.5], [most, most], f"E + S = {most} eps")
plot.label(
    left,
    title=f"At most {max(d.max() for d in distances.values()):.1f} eps from PyTorch",
    y="largest difference, eps of the largest entry", xlim=(-0.5, 3.5), ylim=(-0.5, most + 1),
    legend={"loc": "upper left", "bbox_to_anchor": (0, 0.9)},
)  # fmt: skip
left.set_xticks(places, ["output", "d query", "d key", "d value"])

ends = np.array([expected.min(), expected.max()])
plot.theory(right, ends, ends, "theory: equal")
plot.measured(right, expected[~of_values], wrong_way[~of_values], label="query, key; no row sum", series=1)
plot.measured(right, expected, right_way, label="query, key, value")
plot.label(right, title=f"Backward is within {error:.1e}", x="central difference", y="gradient from backward")
difference_rows = [
    ["difference from PyTorch in eps", f"{kind}, {dtype}", name, "", eps]
    for dtype in DTYPES
    for kind, of_kind in zip(KINDS, distances[dtype].round(3), strict=True)
    for name, eps in zip(NAMES, of_kind, strict=True)
]
array = np.repeat(NAMES[1:], [p.size for p in points])
gradient_rows = [
    ["gradient", case, *row]
    for case, gradient in (("softmax", right_way), ("no row sum", wrong_way))
    for row in zip(array, expected.round(6), gradient.round(6), strict=True)
]
names = ("panel", "case", "array", "central difference", "measured")
rows = difference_rows + gradient_rows
lesson.save(figure, dict(zip(names, zip(*rows, strict=True), strict=True)), suffix="_gradients")

# %% [markdown]
# ## To try
#
# * Give the values a third dimension and test the hull with 1,000 random directions u: max(u·output) ≤ max(u·value).
# * Scores in a trained model are not normal. Draw them from a Laplace distribution of variance 1: how many keys does a
#   query look at?
# * Add `np.sin` of the position to the tokens before they become queries, keys and values. Which of the four changes
#   grow?
