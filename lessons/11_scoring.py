# %% [markdown]
# # 11 Other ways to score
#
# The dot product is not the only way to ask how well a query matches a key, and it was not the first.
#
# * *additive* (Bahdanau, Cho and Bengio, 2015): v · tanh(W_q q + W_k k), a network with one hidden layer of width A
# * *dot* (Luong, Pham and Manning, 2015): q · k
# * *general* (the same): q · W k, with a learned matrix; query and key may differ in width
# * *scaled dot* (Vaswani et al., 2017): q · k / √d
# * *QK-norm* (Henry et al., 2020): the cosine of q and k, times a learned *temperature*
#
# All are followed by the same mask, softmax and weighted sum. This lesson measures how their scores spread, what
# gradient they let through, and what they cost.

# %%
import time
import tracemalloc

import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.attention.scoring import additive_scores, luong_scores, qk_norm
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

WIDTHS, SEEDS = 2 ** np.arange(2, 11), 8


def tensor(data, **options):
    return ta.Tensor(np.asarray(data, np.float32), device=lesson.device, **options)


# %% [markdown]
# ## Five scores, one interface
#
# Matrices start as layers usually do: entries of variance 1/(number of inputs), so that a product with them keeps the
# variance. The temperature of QK-norm is √d here, which is where many models start it.


# %%
def scorers(width, seed):
    """{name: function of (query, key) to scores}, with weights drawn from the seed."""
    rng = np.random.default_rng([seed, width, 1])
    w_query, w_key, w_general = (tensor(rng.normal(size=(width, width)) * width**-0.5) for _ in range(3))
    vector = tensor(rng.normal(size=width) * width**-0.5)

    def normalised(query, key):
        return ta.scores(*qk_norm(query, key, width**0.5))

    return {
        "dot": luong_scores,
        "general": lambda query, key: luong_scores(query, key, w_general),
        "additive": lambda query, key: additive_scores(query, key, w_query, w_key, vector),
        "scaled dot": lambda query, key: ta.scale(ta.scores(query, key), width**-0.5),
        "QK-norm": normalised,
    }


NAMES = tuple(scorers(4, 0))


def pairs(width, seed, queries=24, keys=24):
    rng = np.random.default_rng([seed, width])
    return rng.normal(size=(queries, width)), rng.normal(size=(keys, width))


# %% [markdown]
# ## How the scores spread
#
# Components of q and k are independent, of mean 0 and variance 1. Predict for each score how its variance grows with
# the width d.
#
# * dot: d (lesson 02). general: W k has components of variance 1 again, so d.
# * scaled dot: 1. QK-norm: the cosine of two random directions has variance 1/d, times the temperature squared: 1.
# * additive: each hidden unit sees a sum of two numbers of variance 1. So the score's variance is E[tanh²(√2 z)] with z
#   normal: a constant below 1, since no hidden unit can exceed 1.

# %%
nodes, weights = np.polynomial.hermite_e.hermegauss(60)
of_tanh = float(weights @ np.tanh(np.sqrt(2) * nodes) ** 2 / weights.sum())
theory = {"dot": WIDTHS, "general": WIDTHS, "additive": of_tanh, "scaled dot": 1, "QK-norm": 1}
theory = {name: np.full(len(WIDTHS), 1.0) * line for name, line in theory.items()}

spread = {name: np.empty((SEEDS, len(WIDTHS))) for name in NAMES}
for seed in range(SEEDS):
    for i, width in enumerate(WIDTHS):
        query, key = map(tensor, pairs(int(width), seed))
        for name, score in scorers(int(width), seed).items():
            spread[name][seed, i] = score(query, key).numpy().astype(float).var()

slopes = {name: np.polyfit(np.log(WIDTHS), np.log(spread[name].mean(axis=0)), 1)[0] for name in NAMES}
off = {name: np.max(np.abs(np.log(spread[name].mean(axis=0) / theory[name]))) for name in NAMES}
for name in NAMES:
    print(f"{name:<10} variance {spread[name].mean(axis=0)[-1]:8.2f} at d = {WIDTHS[-1]}, slope {slopes[name]:+.2f}")
lesson.verdict(
    "the variance of unscaled products grows with the width, that of all others does not",
    all(abs(slopes[name] - (name in ("dot", "general"))) < 0.12 for name in NAMES) and max(off.values()) < 0.5,
    ", ".join(f"{name} slope {slopes[name]:+.2f}" for name in NAMES),
)

# %% [markdown]
# ## What gradient reaches the query
#
# Lesson 04 showed what spread does: scores that are far apart saturate the softmax, and the typical query gets next to
# no gradient. Here the gradient of a random loss on the output, taken at the query, for each way to score. Additive
# scoring cannot saturate the softmax, but something of its own can saturate: tanh.

# %%
reaching = {name: np.empty((SEEDS, len(WIDTHS))) for name in NAMES}
for seed in range(SEEDS):
    for i, width in enumerate(WIDTHS):
        query, key = pairs(int(width), seed)
        upstream = tensor(np.random.default_rng([seed, 2]).normal(size=(24, 8)))
        value = tensor(np.random.default_rng([seed, 3]).normal(size=(24, 8)))
        for name, score in scorers(int(width), seed).items():
            leaf = tensor(query, requires_grad=True)
            ta.weighted_sum(ta.softmax(score(leaf, tensor(key))), value).backward(upstream)
            norms = np.linalg.norm(ta.as_tensor(leaf.grad).numpy().astype(float), axis=1)
            reaching[name][seed, i] = np.median(norms)

kept = {name: np.median(reaching[name][:, -1]) / np.median(reaching[name][:, 0]) for name in NAMES}
for name in NAMES:
    print(
        f"{name:<10} gradient of the typical query at d = {WIDTHS[-1]}: {kept[name]:.2g} times that at d = {WIDTHS[0]}"
    )
lesson.verdict(
    "unscaled products starve the query at large width, the other scores do not",
    all(kept[name] < 0.05 for name in ("dot", "general")) and all(kept[name] > 0.5 for name in NAMES[2:]),
    ", ".join(f"{name} {kept[name]:.2g}" for name in NAMES),
)

# %%
figure, (left, right) = plot.axes(2)
for series, name in enumerate(NAMES):
    if name in ("dot", "additive", "scaled dot"):  # the other two share a line with one of these
        plot.theory(left, WIDTHS, theory[name], f"theory, {name}", series=series)
    plot.measured(left, WIDTHS, spread[name], label=name, series=series)
    plot.measured(right, WIDTHS, reaching[name], label=name, series=series, join=True)
plot.label(
    left,
    title=f"Only unscaled products spread: to {spread['dot'].mean(axis=0)[-1]:,.0f}",
    x="width d of query and key",
    y="variance of the scores",
    log_x=2,
    log_y=10,
    ylim=(0.2, 3e4),
)
left.get_legend().set(visible=False)
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
plot.label(
    right,
    title=f"… and starve the query: {kept['dot']:.0e} of the gradient",
    x="width d of query and key",
    y="gradient of the typical query",
    log_x=2,
    log_y=10,
    legend=None,
)
lesson.save(
    figure,
    {"width": WIDTHS}
    | {f"variance_{name}": spread[name].mean(axis=0) for name in NAMES}
    | {f"gradient_{name}": np.median(reaching[name], axis=0) for name in NAMES},
)

# %% [markdown]
# ## What they cost
#
# For n queries and n keys of width d a dot product score takes 2d operations (multiply and add), and the table holds n²
# numbers. Additive scoring with hidden width A = d needs for each pair A sums, A tanhs and a product with v: about 4A
# operations, of which the tanhs are slow, and none of it is a matrix product. And all the hidden layers together are a
# table of n² A numbers, of which two (the sum and its tanh) are alive at once.
#
# Predict: memory of additive over dot at d = 32.

# %%
LENGTHS, WIDTH = 2 ** np.arange(4, 9), 32


def peak_memory(score, n):
    """Bytes allocated at the worst moment of scoring n queries against n keys, forward."""
    query, key = map(tensor, pairs(WIDTH, 0, n, n))
    score(query, key)
    tracemalloc.start()
    score(query, key)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


score_of = scorers(WIDTH, 0)
memory = {name: np.array([peak_memory(score_of[name], int(n)) for n in LENGTHS]) for name in ("scaled dot", "additive")}
predicted = {"scaled dot": 2 * 4 * LENGTHS**2, "additive": 2 * 4 * LENGTHS**2 * WIDTH}
for name, sizes in memory.items():
    times = sizes[-1] / predicted[name][-1]
    print(f"{name:<10} {sizes[-1] / 2**20:7.2f} MiB at n = {LENGTHS[-1]}, {times:.2f} times the prediction")
more = memory["additive"][-1] / memory["scaled dot"][-1]
lesson.verdict(
    f"additive scoring needs about A = {WIDTH} times the memory of a product",
    0.7 * WIDTH < more < 1.3 * WIDTH,
    f"{more:.1f} times at n = {LENGTHS[-1]}",
)

# %%
figure, ax = plot.axes(1, width=5.6)
for series, name in enumerate(memory):
    plot.theory(ax, LENGTHS, predicted[name] / 2**20, f"two tables, {name}", series=series)
    plot.measured(ax, LENGTHS, memory[name] / 2**20, label=name, series=series)
plot.label(
    ax,
    title=f"Additive scoring takes {more:.0f} times the memory (A = d = {WIDTH})",
    x="number of queries and of keys n",
    y="peak memory, forward (MiB)",
    log_x=2,
    log_y=10,
)
lesson.save(
    figure,
    {"n": LENGTHS} | {f"{name}_predicted": size for name, size in predicted.items()},
    suffix="_memory",
)

# %% [markdown]
# And the clock. Predict: how many times as long does additive scoring take, at the same number of operations within a
# factor of two?

# %%
seconds = {name: np.empty((7, len(LENGTHS))) for name in NAMES}
for i, n in enumerate(LENGTHS):
    query, key = map(tensor, pairs(WIDTH, 0, int(n), int(n)))
    for score in score_of.values():
        score(query, key)
    for repeat in range(7):
        for name, score in score_of.items():
            calls = max(1, 2048 // int(n)) if name != "additive" else 1
            start = time.perf_counter()
            for _ in range(calls):
                score(query, key)
            seconds[name][repeat, i] = (time.perf_counter() - start) / calls
middle = {name: np.median(seconds[name], axis=0) for name in NAMES}
slower = middle["additive"] / middle["scaled dot"]
for name in NAMES:
    longer = middle[name][-1] / middle["scaled dot"][-1]
    print(f"{name:<10} {longer:6.1f} times as long as the scaled dot at n = {LENGTHS[-1]}")
lesson.verdict(
    "additive scoring takes more than ten times as long as the scaled dot product, and the longest of all",
    slower[-1] > 10 and max(NAMES, key=lambda name: middle[name][-1]) == "additive",
    f"{slower[-1]:.0f} times at n = {LENGTHS[-1]}",
)
print("Why the dot product won: with the scale it spreads and learns as well, and it is one matrix product.")

# %%
figure, ax = plot.axes(1, width=5.6)
for series, name in enumerate(NAMES):
    plot.measured(ax, LENGTHS, 1e6 * seconds[name], label=name, series=series, join=True)
plot.label(
    ax,
    title=f"Additive: {slower[-1]:.0f} times the time of the scaled dot at n = {LENGTHS[-1]}",
    x="number of queries and of keys n",
    y="time of the scores, forward (µs)",
    log_x=2,
    log_y=10,
)
lesson.save(figure, {"n": LENGTHS} | {f"{name}_us": 1e6 * middle[name] for name in NAMES}, suffix="_timing")

# %% [markdown]
# ## What to try
#
# * Set the temperature of QK-norm to 1. What are the weights then, at any width?
# * Multiply the weights of the additive score by 10. Its scores cannot spread further, so what saturates now?
# * Query of width 8, key of width 12: which of the five can score them?
