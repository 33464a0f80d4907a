# %% [markdown]
# # 02 Scores, and how their variance grows
#
# A *score* says how well a query matches a key: it is their dot product, the sum of d_k products of components, where
# d_k is the *key width*. Sums of random numbers spread. How far?
#
# "Assume that the components of q and k are independent random variables with mean 0 and variance 1. Then their dot
# product has mean 0 and variance d_k." (Vaswani et al., 2017, footnote 4.) Each of the d_k products has variance 1, and
# the variances of independent numbers add up.
#
# In this lesson you measure that for widths from 1 to 4,096, and then break the assumptions one at a time.

# %%
import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

WIDTHS = 2 ** np.arange(13)  # d_k from 1 to 4096
PAIRS, SEEDS = 400, 16

# %% [markdown]
# ## One estimate
#
# Draw many pairs of a query and a key, take their scores, and compute the variance of the scores. Scores that share a
# query are not independent of each other, so each pair stands alone: shape (pairs, 1, d_k) for both.


# %%
def score_variance(draw, width, seed):
    """Sample variance of PAIRS independent scores; draw(rng, shape) -> query, key."""
    query, key = draw(np.random.default_rng([seed, width]), (PAIRS, 1, width))
    scores = ta.scores(ta.Tensor(query, device=lesson.device), ta.Tensor(key, device=lesson.device))
    return ta.var(ta.astype(scores, float), correction=1).item()


def variances(draw):
    """(SEEDS, widths): the estimate repeated with other random numbers."""
    return np.array([[score_variance(draw, int(width), seed) for width in WIDTHS] for seed in range(SEEDS)])


# %% [markdown]
# ## The theorem, and how far an estimate may be off
#
# The theorem speaks of mean 0 and variance 1 and of no particular distribution. So try four: signs (−1 or +1), uniform,
# normal, and Laplace, which has more weight in its tails.
#
# An estimate from n pairs is off by chance. How far depends on the *kurtosis*, the mean of the fourth power of what has
# variance 1. For a score it is 3 + (κ² − 3)/d_k, with κ the kurtosis of one component. The relative standard error of
# the variance is √((kurtosis − (n − 3)/(n − 1)) / n). For wide keys a score is nearly normal (kurtosis 3), whatever its
# components are, and this becomes the √(2/(n − 1)) of the *chi-square* distribution.
#
# Predict: which of the four has the widest band at d_k = 1? Which has hardly any? What is left of the difference at d_k
# = 4,096?


# %%
def normal(rng, shape):
    return rng.standard_normal(shape, dtype=np.float32)


def both(draw):
    """Query and key drawn independently in the same way, in float32."""
    return lambda rng, shape: (draw(rng, shape).astype(np.float32), draw(rng, shape).astype(np.float32))


distributions = {  # how to draw numbers of mean 0 and variance 1, and their kurtosis
    "signs": (lambda rng, shape: 1 - 2 * rng.integers(2, size=shape, dtype=np.int8), 1.0),
    "uniform": (lambda rng, shape: (2 * rng.random(shape, dtype=np.float32) - 1) * np.float32(3**0.5), 1.8),
    "normal": (normal, 3.0),
    "Laplace": (lambda rng, shape: rng.laplace(scale=0.5**0.5, size=shape), 6.0),
}
held = {name: variances(both(draw)) for name, (draw, _) in distributions.items()}

Z80 = 1.2816  # the middle 80% of a normal distribution lie within this many standard deviations


def standard_error(kurtosis):
    """Of the variance, relative to it, for each width."""
    of_score = 3 + (kurtosis**2 - 3) / WIDTHS
    return np.sqrt((of_score - (PAIRS - 3) / (PAIRS - 1)) / PAIRS)


z = {name: (held[name] / WIDTHS - 1) / standard_error(kurtosis) for name, (_, kurtosis) in distributions.items()}
slopes = {name: np.polyfit(np.log(WIDTHS), np.log(held[name].mean(axis=0)), 1)[0] for name in held}
for name in held:
    first, last = held[name].mean(axis=0)[[0, -1]]
    inside = np.mean(np.abs(z[name]) < Z80)
    print(f"{name:<8} variance {first:.3f} at d_k = 1 and {last:.0f} at d_k = {WIDTHS[-1]}", end="; ")
    print(f"slope {slopes[name]:.3f}; {inside:.0%} of the estimates inside the 80% band")

inside = np.mean([np.abs(of_name) < Z80 for of_name in z.values()])
lesson.verdict(
    "Var(q·k) = d_k for every distribution of mean 0 and variance 1",
    all(abs(slope - 1) < 0.02 for slope in slopes.values()) and abs(inside - 0.8) < 0.05,
    f"slopes {min(slopes.values()):.3f} to {max(slopes.values()):.3f}, "
    f"{inside:.0%} of {sum(map(np.size, z.values()))} estimates inside the 80% band",
)

# %% [markdown]
# ## Break the assumptions
#
# Each of these is met in real models. Predict the variance before you read on.
#
# * **A mean that is not zero**, m = 1 for q and k. One product has variance (1 + m²)² − m⁴ = 1 + 2m², so the sum has (1
#   + 2m²) d_k. The score itself has mean m² d_k, too; softmax does not see what all scores of a row have in common.
# * **Components that go together**: any two have the correlation ρ = 0.3. Then the products have it squared, and
#   d_k(d_k − 1) covariances join the sum: d_k + d_k(d_k − 1)ρ². That grows with the *square* of the width.
# * **The key depends on the query.** Take the extreme, k = q: the score is the squared length of q, with mean d_k and
#   variance 2 d_k for normal components. The spread has only doubled, but compare it with the mean: at d_k = 4,096 the
#   score is far from 0 for certain.


# %%
def correlated(rng, shape, rho=0.3):
    return np.float32(rho**0.5) * normal(rng, (*shape[:-1], 1)) + np.float32((1 - rho) ** 0.5) * normal(rng, shape)


broken = {
    "mean 1": (both(lambda rng, shape: 1 + normal(rng, shape)), 3.0 * WIDTHS),
    "correlation 0.3": (both(correlated), WIDTHS + WIDTHS * (WIDTHS - 1) * 0.3**2),
    "key = query": (lambda rng, shape: 2 * (normal(rng, shape),), 2.0 * WIDTHS),
}
failed = {name: variances(draw) for name, (draw, _) in broken.items()}

for name, (_, theory) in broken.items():
    estimates = failed[name]
    error = estimates.std(axis=0, ddof=1) / SEEDS**0.5
    worst = np.max(np.abs(estimates.mean(axis=0) - theory) / error)
    off = estimates.mean(axis=0)[-1] / WIDTHS[-1]
    lesson.verdict(
        f"with {name} the variance follows its own formula",
        worst < 4 and abs(off - theory[-1] / WIDTHS[-1]) < 0.2 * off,
        f"{off:.4g} x d_k at d_k = 4096, theory {theory[-1] / WIDTHS[-1]:.4g}; "
        f"at most {worst:.1f} standard errors away at any width",
    )

# %% [markdown]
# ## The picture
#
# On the left the markers are the median of the estimates and a bar holds the middle 80% of them; the outer lines are
# where theory puts that bar's ends. On the right the bars are too short to matter: look at the slopes.

# %%
figure, (left, right) = plot.axes(2)

for series, (name, (_, kurtosis)) in enumerate(distributions.items()):
    beside = WIDTHS * 1.12 ** (series - 1.5)  # so that the four do not cover each other
    plot.measured(left, beside, held[name] / WIDTHS, label=name, series=series, bars=True)
    for side in (-1, 1):
        plot.theory(left, WIDTHS, 1 + side * Z80 * standard_error(kurtosis), series=series)
plot.theory(left, WIDTHS, np.ones_like(WIDTHS), "theory; middle 80%")
plot.label(
    left,
    title=f"Var(q·k) = $d_k$: slopes {min(slopes.values()):.3f} to {max(slopes.values()):.3f}",
    x="key width $d_k$", y="variance of the scores / $d_k$", log_x=2, ylim=(0.5, 1.7),
    legend={"loc": "upper right", "ncols": 2},
)  # fmt: skip

plot.theory(right, WIDTHS, WIDTHS, "the theorem: $d_k$")
for series, (name, (_, theory)) in enumerate(broken.items()):
    plot.theory(right, WIDTHS, theory, series=series)
    plot.measured(right, WIDTHS, failed[name], label=name, series=series)
plot.label(
    right,
    title=f"Broken: up to {max(f.mean(axis=0)[-1] for f in failed.values()) / WIDTHS[-1]:.0f} times $d_k$",
    x="key width $d_k$", y="variance of the scores", log_x=2, log_y=10,
)  # fmt: skip

cases = {name: (held[name], 1.0 * WIDTHS) for name in held}
cases |= {name: (failed[name], broken[name][1]) for name in failed}
median, low, high = np.hstack([plot.spread(estimates) for estimates, _ in cases.values()])
lesson.save(
    figure,
    {
        "case": np.repeat(list(cases), len(WIDTHS)),
        "width": np.tile(WIDTHS, len(cases)),
        "theory": np.concatenate([theory for _, theory in cases.values()]),
        "median": median, "low": low, "high": high,
    },
)  # fmt: skip

# %% [markdown]
# ## No variance at all
#
# One assumption is left: that there *is* a variance. Student's t distribution with 1.5 degrees of freedom has none; its
# tails are so heavy that the mean of the squares never settles, since now and then a single number outweighs all that
# came before. Theory: a product of two such numbers exceeds x with a probability that falls as ln(x)/x^1.5, so the
# largest of n products is of the size (n ln n)^(1/1.5), and its square alone makes the "variance" of n pairs grow as (n
# ln n)^(2/1.5)/n instead of approaching a number.

#
# Predict what happens to the two estimates as the number of pairs goes from 2^6 to 2^18.

# %%
COUNTS = 2 ** np.arange(6, 19)


def running_variance(draw, seed):
    """The variance of the first n scores, d_k = 1, for each n of COUNTS."""
    rng = np.random.default_rng([seed, 99])
    query, key = (ta.Tensor(draw(rng, (COUNTS[-1], 1, 1)), device=lesson.device) for _ in "qk")
    scores = ta.scores(query, key).numpy().ravel().astype(float)
    return [scores[:n].var(ddof=1) for n in COUNTS]


tails = {"normal": normal, "Student t, 1.5": lambda rng, shape: rng.standard_t(1.5, size=shape)}
running = {name: np.array([running_variance(draw, seed) for seed in range(SEEDS)]) for name, draw in tails.items()}

heavy = "Student t, 1.5"
theory = (COUNTS * np.log(COUNTS)) ** (2 / 1.5) / COUNTS  # up to a constant


def log_slope(y):
    return np.polyfit(np.log(COUNTS), np.log(y), 1)[0]


growth = {name: log_slope(np.median(estimates, axis=0)) for name, estimates in running.items()}
apart = {name: estimates[:, -1].max() / estimates[:, -1].min() for name, estimates in running.items()}
for name in running:
    print(
        f"{name:<14} grows as n^{growth[name]:.2f}; with {COUNTS[-1]} pairs the seeds are {apart[name]:.3g}-fold apart"
    )
lesson.verdict(
    "without a finite variance more data does not help: the estimate keeps growing and the seeds do not agree",
    abs(growth[heavy] - log_slope(theory)) < 0.1 and apart[heavy] > 3 and abs(growth["normal"]) < 0.05,
    f"growth n^{growth[heavy]:.2f}, theory n^{log_slope(theory):.2f}, seeds {apart[heavy]:.3g}-fold apart; "
    f"normal n^{growth['normal']:.2f} and {apart['normal']:.2f}-fold",
)

# %%
figure, ax = plot.axes()
for series, name in enumerate(running):
    plot.measured(ax, COUNTS, running[name], label=name, series=series)
plot.theory(ax, COUNTS, np.ones(len(COUNTS)), "theory: 1", series=0)
level = np.exp(np.mean(np.log(np.median(running[heavy], axis=0) / theory)))
plot.theory(ax, COUNTS, level * theory, "theory: (n ln n)$^{4/3}$/n", series=1)
plot.label(
    ax,
    title=f"No variance to find: it grows as $n^{{{growth[heavy]:.2f}}}$",
    x="pairs n", y="variance of n scores, $d_k$ = 1", log_x=10, log_y=10, legend=(0.38, 0.17),
)  # fmt: skip
median, low, high = np.hstack([plot.spread(of_name) for of_name in running.values()])
lesson.save(
    figure,
    {
        "components": np.repeat(list(running), len(COUNTS)),
        "pairs": np.tile(COUNTS, len(running)),
        "median": median, "low": low, "high": high,
    },
    suffix="_tails",
)  # fmt: skip

# %% [markdown]
# ## To try
#
# * Keep the variance at 1 but let only one component in ten be different from 0. What is its kurtosis? Does the theorem
#   hold?
# * Let half of the components of k equal those of q. Which mean and variance do you predict?
# * Take ρ = −0.3 for d_k = 2. The formula has ρ²: is the sign really without effect?
