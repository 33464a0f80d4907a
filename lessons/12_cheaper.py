# %% [markdown]
# # 12 Attacking n squared
#
# Attention compares every query with every key: n² scores (lesson 07). Two ways around that are in wide use:
#
# * *window attention*: a token looks only at the last w tokens. The work grows with n·w.
# * *linear attention* (Katharopoulos et al., 2020): the weight of a key is not exp(q·k) but a product φ(q)·φ(k) of
#   *features*. Then Σ (φ(q)·φ(k)) v = φ(q)·Σ φ(k) v, and the sum over the keys is the same for every query: one matrix
#   of E × Ev numbers, kept up to date while the text goes by. The work grows with n.
#
# Nothing is free. What is lost is measured here on the plainest of tasks: recall.

# %%
import time

import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.attention.linear import elu_plus_one, linear_attention
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

E, VALUES, WINDOW = 32, 16, 64
PAIRS = 2 ** np.arange(3, 12)
SEEDS, QUERIES = 8, 100


def tensor(data):
    return ta.Tensor(np.asarray(data, np.float32), device=lesson.device)


# %% [markdown]
# ## The task
#
# A text of n pairs (key, value) went by: keys are random vectors of width E, values are one of 16 symbols. Now one of
# the keys comes again. Which symbol belonged to it? A model answers with the symbol that gets the largest output.
# Guessing is right once in 16. Nothing is trained: query, key and value are what they should be, and only the way to
# attend differs.


# %%
def pairs(n, seed, width=E):
    """Keys (n, width), values as one-hot rows (n, VALUES), and QUERIES places that are asked for."""
    rng = np.random.default_rng([seed, n, width])
    keys = rng.normal(size=(n, width))
    return keys, np.eye(VALUES)[rng.integers(0, VALUES, n)], rng.integers(0, n, QUERIES)


def by_full(query, key, value):
    return ta.scaled_dot_product_attention(query, key, value, scale=0.5)


def by_window(query, key, value, w=WINDOW):
    return ta.scaled_dot_product_attention(query, key[-w:], value[-w:], scale=0.5)


def by_linear(query, key, value):
    return linear_attention(query, key, value)


def by_sharper(query, key, value):
    return linear_attention(query, key, value, feature_map=lambda x: ta.exp(2 * x))


def recall(attend, n, seed, width=E):
    """Share of right answers."""
    keys, values, asked = pairs(n, seed, width)
    output = attend(tensor(keys[asked]), tensor(keys), tensor(values)).numpy()
    return np.mean(output.argmax(axis=1) == values[asked].argmax(axis=1))


# %% [markdown]
# ## What to expect
#
# *Full*, with a sharp softmax: the right key has score E/2 = 16, any other about 0 ± 3. It should always win.
#
# *Window*: right if the pair is among the last w, else a guess: w/n + (1 − w/n)/16.
#
# *Linear*: features are never negative, so every key gets some weight. Let r = E[φ²]/E[φ]² for one component. In units
# of the average weight, the right key has r ± √((E[φ⁴] − E[φ²]²)/E)/E[φ]² and any other 1 ± √((r² − 1)/E). Each of the
# other keys votes with its weight for its own symbol, and by chance some symbol has more of them than the right one.
# That is a game of dice, and the prediction is found by playing it: draw how many keys vote for each symbol, add the
# noise of the weights, and see how often the right symbol wins. With r near 1 two keys that agree beat the right one.
#
# Predict: at which n has linear attention lost half?

# %%
nodes, heights = np.polynomial.hermite_e.hermegauss(80)
features = elu_plus_one(ta.Tensor(nodes)).numpy()
first, second, fourth = (float(heights @ features**power / heights.sum()) for power in (1, 2, 4))
r = second / first**2


def linear_theory(n, games=4000):
    """Share of games in which the right symbol, number 0, has the largest sum of weights."""
    rng = np.random.default_rng(n)
    votes = rng.multinomial(n - 1, np.full(VALUES, 1 / VALUES), games).astype(float)
    sums = votes + np.sqrt(votes * (r * r - 1) / E) * rng.normal(size=votes.shape)
    sums[:, 0] += r + np.sqrt((fourth - second**2) / E) / first**2 * rng.normal(size=games)
    return np.mean(sums.argmax(axis=1) == 0)


window_theory = np.minimum(1, WINDOW / PAIRS) + np.maximum(0, 1 - WINDOW / PAIRS) / VALUES
theories = {
    "full": np.ones(len(PAIRS)),
    f"window {WINDOW}": window_theory,
    "linear": np.array([linear_theory(int(n)) for n in PAIRS]),
}
ways = dict(zip(theories, (by_full, by_window, by_linear), strict=True))
found = {
    name: np.array([[recall(attend, int(n), seed) for n in PAIRS] for seed in range(SEEDS)])
    for name, attend in ways.items()
}
for name, shares in found.items():
    print(f"{name:<10}", " ".join(f"n={n}: {share:.0%}" for n, share in zip(PAIRS, shares.mean(axis=0), strict=True)))

worst = {name: np.max(np.abs(found[name].mean(axis=0) - theories[name])) for name in ways}
lesson.verdict(
    "full attention recalls every pair, a window forgets what has left it",
    worst["full"] < 0.01 and worst[f"window {WINDOW}"] < 0.04,
    f"full {found['full'].mean():.1%}; window within {worst[f'window {WINDOW}']:.1%} of theory at every n",
)
lesson.verdict(
    "linear attention loses pairs long before a window of the same n does, as predicted",
    worst["linear"] < 0.06 and found["linear"].mean(axis=0)[PAIRS == WINDOW].item() < 0.8,
    f"{found['linear'].mean(axis=0)[PAIRS == WINDOW].item():.0%} right at n = {WINDOW}, "
    f"within {worst['linear']:.0%} of theory at every n",
)

# %% [markdown]
# ## Recall costs memory
#
# While it writes, a model keeps what it needs of the past: full attention n keys and values, a window w of them, linear
# attention its matrix of E × Ev features. Compare them by the numbers they keep, for n = 256 pairs: widen the window,
# widen the features.
#
# Wider is not sharper: r does not depend on E. So there is a third contender, with features φ(x) = exp(2x), for which r
# is e⁴, about 55.
#
# Predict: is there a cheap way to recall?

# %%
KEPT_PAIRS = 256
windows, widths = 2 ** np.arange(2, 9), 2 ** np.arange(3, 11)
by_size = {
    "window": (
        windows * (E + VALUES),
        np.array([[recall(lambda q, k, v, w=w: by_window(q, k, v, int(w)), KEPT_PAIRS, seed) for w in windows]
                  for seed in range(SEEDS)]),
    ),
} | {
    name: (
        widths * (VALUES + 1),
        np.array([[recall(attend, KEPT_PAIRS, seed, int(width)) for width in widths] for seed in range(SEEDS)]),
    )
    for name, attend in (("linear", by_linear), ("linear, exp(2x)", by_sharper))
}  # fmt: skip
full_size = KEPT_PAIRS * (E + VALUES)
below = {name: shares.mean(axis=0)[numbers < full_size].max() for name, (numbers, shares) in by_size.items()}
lesson.verdict(
    "nothing recalls as well as full attention with fewer numbers kept",
    max(below.values()) < 0.9,
    ", ".join(f"{name} at most {share:.0%}" for name, share in below.items()) + f" below {full_size:,} numbers",
)

# %%
figure, (left, right) = plot.axes(2)
for series, name in enumerate(ways):
    plot.theory(left, PAIRS, theories[name], f"theory, {name}", series=series)
    plot.measured(left, PAIRS, found[name], label=name, series=series)
plot.label(
    left,
    title=f"At n = {WINDOW} full recalls all, linear {found['linear'].mean(axis=0)[PAIRS == WINDOW].item():.0%}",
    x="pairs in the text n",
    y="share of right answers",
    log_x=2,
    ylim=(0, 1.04),
    legend="center right",
)
for series, (name, (numbers, shares)) in enumerate(by_size.items(), start=1):
    plot.measured(right, numbers, shares, label=name, series=series, join=True)
plot.measured(right, [full_size], [found["full"].mean()], label="full", series=0)
plot.theory(right, [numbers.min(), 4 * full_size], [1 / VALUES] * 2, f"guessing: 1/{VALUES}")
plot.label(
    right,
    title=f"Fewer numbers kept, less recalled (n = {KEPT_PAIRS})",
    x="numbers kept of the past, for each head",
    y="share of right answers",
    log_x=10,
    ylim=(0, 1.04),
    legend="upper left",
)
lesson.save(
    figure,
    {"n": PAIRS} | {f"{name}_{kind}": line for name in ways
                    for kind, line in (("mean", found[name].mean(axis=0)), ("theory", theories[name]))},
)  # fmt: skip

# %% [markdown]
# ## What they save
#
# The clock, for causal attention over a whole text of n tokens, E = Ev = 32. Full and window attention both skip the
# blocks of scores that the mask rules out; neither stores the table (lesson 09).
#
# Predict: the slopes on log axes.

# %%
LENGTHS = 2 ** np.arange(8, 15 if lesson.full else 14)
forms = {
    "full": lambda q, k, v: ta.scaled_dot_product_attention(q, k, v, is_causal=True, method="tiled"),
    f"window {WINDOW}": lambda q, k, v: ta.scaled_dot_product_attention(
        q, k, v, is_causal=True, window=(WINDOW - 1, 0), method="tiled"
    ),
    "linear": lambda q, k, v: linear_attention(q, k, v, is_causal=True),
}
seconds = {name: np.empty((5, len(LENGTHS))) for name in forms}
for i, n in enumerate(LENGTHS):
    query, key, value = (tensor(np.random.default_rng([i, j]).normal(size=(n, E))) for j in range(3))
    for form in forms.values():
        form(query, key, value)
    for repeat in range(5):
        for name, form in forms.items():
            start = time.perf_counter()
            form(query, key, value)
            seconds[name][repeat, i] = time.perf_counter() - start
middle = {name: np.median(seconds[name], axis=0) for name in forms}
slopes = {name: np.polyfit(np.log(LENGTHS[-3:]), np.log(middle[name][-3:]), 1)[0] for name in forms}
for name in forms:
    faster = middle["full"][-1] / middle[name][-1]
    print(f"{name:<10} slope {slopes[name]:.2f}; at n = {LENGTHS[-1]:,} full takes {faster:.1f} times as long")
lesson.verdict(
    "full attention's time grows much faster than n, on its way to the square; that of the other two with n",
    slopes["full"] > 1.4 and all(slopes[name] < 1.25 for name in forms if name != "full"),
    ", ".join(f"{name} slope {slopes[name]:.2f}" for name in forms) + f" over n = {LENGTHS[-3]:,} to {LENGTHS[-1]:,}",
)

# %%
figure, ax = plot.axes(1, width=5.6)
for series, name in enumerate(forms):
    plot.measured(ax, LENGTHS, 1e3 * seconds[name], label=f"{name}: slope {slopes[name]:.2f}", series=series)
    power = 2 if name == "full" else 1
    line = 1e3 * middle[name][-1] * (LENGTHS / LENGTHS[-1]) ** power
    plot.theory(ax, LENGTHS, line, f"n to the {power}", series=series)
saved = middle["full"][-1] / middle[f"window {WINDOW}"][-1]
plot.label(
    ax,
    title=f"At n = {LENGTHS[-1]:,} full takes {saved:.0f} times a window's time",
    x="number of tokens n",
    y="time, forward (ms)",
    log_x=2,
    log_y=10,
)
lesson.save(figure, {"n": LENGTHS} | {f"{name}_ms": 1e3 * middle[name] for name in forms}, suffix="_timing")

# %% [markdown]
# ## What to try
#
# * Give linear attention sharper features, `feature_map=lambda x: ta.exp(x)`. What becomes of r, and of the recall?
# * Ask only for the last 64 pairs. Which of the three is now best value?
# * Real models mix layers: most with a window, a few with full attention. What would two windows on top of each other
#   see?
