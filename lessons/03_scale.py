# %% [markdown]
# # 03 The scale
#
# Scores of width d_k have variance d_k (lesson 02). Softmax, the next step, reacts to differences between scores: it
# turns a difference of 1 into a ratio of e, and a difference of 64 into a ratio of e^64. So attention divides the
# scores first: Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V. Why by the square root, and not by d_k, or by nothing, or
# by a number that the model learns for itself?
#
# Dividing a random number by c divides its variance by c². That is all the theory needed for the first experiment.

# %%
import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

WIDTHS = 2 ** np.arange(13)  # d_k from 1 to 4096
PAIRS, SEEDS = 400, 16
factors = {"no scale": lambda d: 1.0, "1/√d_k": lambda d: d**-0.5, "1/d_k": lambda d: 1 / d}


def tensor(array, **options):
    return ta.Tensor(array, device=lesson.device, **options)


def normal(rng, *shape):
    return rng.standard_normal(shape, dtype=np.float32)


# %% [markdown]
# ## Three factors
#
# Predict the variance of the scaled scores at d_k = 1 and at d_k = 4,096 for each of the three factors: 1, 1/√d_k,
# 1/d_k. `ta.scale(scores, factor=...)` is step 2 of attention.


# %%
def estimates(seed):
    """(factors, widths): variance of PAIRS independent scores after scaling."""
    rng = np.random.default_rng(seed)
    columns = []
    for width in map(int, WIDTHS):
        scores = ta.scores(tensor(normal(rng, PAIRS, 1, width)), tensor(normal(rng, PAIRS, 1, width)))
        columns.append([ta.var(ta.scale(scores, factor=f(width)), correction=1).item() for f in factors.values()])
    return np.transpose(columns)


variance = np.stack([estimates(seed) for seed in range(SEEDS)], axis=1)  # (factors, seeds, widths)
theory = np.array([[f(int(d)) ** 2 * d for d in WIDTHS] for f in factors.values()])

# 80% of the estimates of a width lie within these relative bounds (lesson 02)
error = 1.2816 * np.sqrt((3 + 6 / WIDTHS - (PAIRS - 3) / (PAIRS - 1)) / PAIRS)
inside = np.mean(np.abs(variance[1] - 1) < error)

for name, of_factor in zip(factors, variance, strict=True):
    first, last = of_factor.mean(axis=0)[[0, -1]]
    print(f"{name:<8}  variance {first:.4g} at d_k = {WIDTHS[0]}, {last:.4g} at d_k = {WIDTHS[-1]}")
slopes = [np.polyfit(np.log(WIDTHS), np.log(v.mean(axis=0)), 1)[0] for v in variance]
lesson.verdict(
    "1/√d_k keeps the variance of the scores at 1 at every width",
    abs(slopes[1]) < 0.02 and abs(inside - 0.8) < 0.09,
    f"from {variance[1].mean(axis=0).min():.3f} to {variance[1].mean(axis=0).max():.3f}, "
    f"{inside:.0%} of {variance[1].size} estimates inside the 80% band",
)
lesson.verdict(
    "without a scale the variance grows as d_k, and under 1/d_k it falls as 1/d_k",
    abs(slopes[0] - 1) < 0.02 and abs(slopes[2] + 1) < 0.02,
    f"slopes {slopes[0]:+.3f} and {slopes[2]:+.3f} on logarithmic axes",
)

# %% [markdown]
# ## Why not divide by d_k?
#
# Smaller scores are safe, but they say less. Give each query one key that matches: k = ρq + √(1 − ρ²) noise, with ρ =
# 0.5. The match has a mean score of ρ d_k, all other keys 0. After scaling by 1/√d_k that is ρ√d_k, which grows: wider
# keys tell a match from a chance resemblance with more certainty, as they should. After 1/d_k it is ρ, and always will
# be.
#
# Theory for the weight of the match among S keys. The others add up to about (S − 1) exp(v/2), with v the variance of
# their scaled scores (the mean of exp of a normal number). With m the scaled score of the match, the weight is 1 / (1 +
# (S − 1) exp(v/2 − m)). Predict: to what does it tend under 1/d_k?

# %%
KEYS, RHO, QUERIES = 32, 0.5, 64
uniform = 1 / KEYS


def weight_of_match(seed):
    """(factors, widths): median over queries of the weight on the matching key, number 0."""
    rng = np.random.default_rng([seed, 1])
    columns = []
    for width in map(int, WIDTHS):
        query, key = normal(rng, QUERIES, 1, width), normal(rng, QUERIES, KEYS, width)
        key[:, :1] = np.float32(RHO) * query + np.float32((1 - RHO**2) ** 0.5) * key[:, :1]
        scores = ta.scores(tensor(query), tensor(key))
        weights = [ta.softmax(ta.scale(scores, factor=f(width))).numpy()[:, 0, 0] for f in factors.values()]
        columns.append(np.median(weights, axis=1))
    return np.transpose(columns)


match = np.stack([weight_of_match(seed) for seed in range(SEEDS)], axis=1)
wide = WIDTHS >= 16  # where scores are near enough to normal
match_theory = np.array(
    [1 / (1 + (KEYS - 1) * np.exp(f(WIDTHS) ** 2 * WIDTHS / 2 - RHO * WIDTHS * f(WIDTHS))) for f in factors.values()]
)
for name, weight in zip(factors, np.median(match, axis=1)[:, -1], strict=True):
    print(f"{name:<8}  weight of the match at d_k = {WIDTHS[-1]}: {weight:.4f}   (equal weights: {uniform:.4f})")
limit = np.exp(RHO) / (np.exp(RHO) + KEYS - 1)
last = np.median(match[2, :, -1])
lesson.verdict(
    "under 1/d_k attention cannot pick the matching key, however wide the keys are; under 1/√d_k it can",
    abs(last - limit) < 0.002 and np.median(match[1, :, -1]) > 0.99,
    f"weight {last:.4f}, theory {limit:.4f}, against {np.median(match[1, :, -1]):.4f}",
)
gap = np.max(np.abs(np.median(match, axis=1) - match_theory)[1:, wide])
lesson.verdict("theory gives the weight of the match", gap < 0.1, f"off by {gap:.3f} at most for d_k of 16 and more")

# %%
figure, (left, right) = plot.axes(2)
for series, name in enumerate(factors):
    shown = name.replace("d_k", "$d_k$")
    plot.theory(left, WIDTHS, theory[series], series=series)
    plot.measured(left, WIDTHS, variance[series], label=shown, series=series)
    plot.measured(right, WIDTHS, match[series], label=shown, series=series)
    if series:  # the mean of exp says nothing about a sum that one key dominates
        plot.theory(right, WIDTHS[wide], match_theory[series][wide], series=series)
right.axhline(uniform, color="black", linewidth=1)
plot.note(right, 80, 0.09, f"equal weights: 1/{KEYS}, the line")
plot.label(
    left,
    title=f"1/√$d_k$ holds the variance: slope {slopes[1]:+.3f}",
    x="key width $d_k$", y="variance of the scaled scores", log_x=2, log_y=10,
)  # fmt: skip
plot.label(
    right,
    title=f"1/$d_k$ cannot pick the match: weight {last:.2f}",
    x="key width $d_k$", y="weight of the matching key", log_x=2, ylim=(0, 1.05),
)  # fmt: skip


def table(measured, theory, widths, names):
    """Columns of a CSV: measured is (names, seeds, widths)."""
    median, low, high = (np.concatenate(part) for part in zip(*map(plot.spread, measured), strict=True))
    columns = {"scale": np.repeat(list(names), len(widths)), "width": np.tile(widths, len(names))}
    return {**columns, "theory": np.ravel(theory), "median": median, "low": low, "high": high}


first = table(variance, theory, WIDTHS, factors)
second = table(match, match_theory, WIDTHS, factors)
quantity = np.repeat(["variance", "weight of the match"], len(first["width"]))
lesson.save(figure, {"quantity": quantity, **{name: np.concatenate([first[name], second[name]]) for name in first}})

# %% [markdown]
# ## Let the model learn its scale
#
# What would a model choose by itself? Give it a task with a known answer: 16 keys on a sphere of radius √d_k, and
# queries that are noisy copies of one of them, q = a k + noise. Which key was it? By Bayes' rule the probability of key
# j is proportional to exp(−|q − a k_j|²/2), and since all keys have the same length, that is a softmax of a·(q·k_j).
# **The best factor is a**: the strength of the signal, a property of the task.
#
# The certainty with which the key can be told depends on a²d_k. Hold it at 3² at every width: a = 3/√d_k. So theory
# says that the learned factor falls as 1/√d_k, and is not 1/√d_k itself. Predict the distance of the two lines.
#
# The factor is learned by gradient descent on its logarithm, starting at 1/√d_k. The loss is the cross-entropy:
# −log(weight of the right key), averaged. Scaling the scores is the same as scaling the query, a sum of products either
# way.

# %%
SIGNAL, CHOICES, SAMPLES, STEPS, RATE = 3.0, 16, 800, 40, 0.5
TASKS = WIDTHS[2:]  # 16 keys on a sphere need a few dimensions
TASK_SEEDS = 8


def cross_entropy(scores, factor, target):
    return -ta.log_softmax(scores * factor)[np.arange(SAMPLES), target].mean()


def learn(width, seed):
    """The learned factor, and the loss under each fixed factor and under the learned one, on new queries."""
    rng = np.random.default_rng([seed, width, 2])
    keys = normal(rng, CHOICES, width)
    keys *= np.float32(width**0.5) / np.linalg.norm(keys, axis=1, keepdims=True)

    def task():
        target = rng.integers(CHOICES, size=SAMPLES)
        query = np.float32(SIGNAL / width**0.5) * keys[target] + normal(rng, SAMPLES, width)
        return ta.scores(tensor(query), tensor(keys)), target

    scores, target = task()
    log_factor = -0.5 * np.log(width)
    for _ in range(STEPS):
        parameter = tensor(log_factor, requires_grad=True)
        cross_entropy(scores, parameter.exp(), target).backward()
        log_factor -= RATE * float(parameter.grad)
    scores, target = task()
    learned = float(np.exp(log_factor))
    losses = [cross_entropy(scores, f, target).item() for f in (*(f(width) for f in factors.values()), learned)]
    return learned, losses


results = [[learn(int(width), seed) for width in TASKS] for seed in range(TASK_SEEDS)]
learned = np.array([[factor for factor, _ in row] for row in results])  # (seeds, widths)
losses = np.array([[loss for _, loss in row] for row in results]).transpose(2, 0, 1)  # (factors and learned, ...)

best = SIGNAL / TASKS**0.5
slope = np.polyfit(np.log(TASKS), np.log(np.median(learned, axis=0)), 1)[0]
off = np.max(np.abs(np.median(learned, axis=0) / best - 1))
names = (*factors, "learned")
for name, of_factor in zip(names, np.median(losses, axis=1), strict=True):
    print(f"{name:<8}  loss {of_factor[0]:8.3f} at d_k = {TASKS[0]}, {of_factor[-1]:8.3f} at d_k = {TASKS[-1]}")
lesson.verdict(
    "a learned scale falls as 1/√d_k by itself, at the height that the task asks for",
    abs(slope + 0.5) < 0.02 and off < 0.1,
    f"slope {slope:.3f}, within {off:.1%} of {SIGNAL:g}/√d_k",
)
flat = np.ptp(np.median(losses[1], axis=0)[2:])
guess = np.median(losses[2, :, -1])
grows = np.median(losses[0, :, -1]) / np.median(losses[0, :, 2])
lesson.verdict(
    f"from d_k = {TASKS[2]} on, the loss under 1/√d_k hardly depends on the width, grows without a scale, "
    "and ends at that of a guess under 1/d_k",
    flat < 0.2 and grows > 3 and abs(guess - np.log(CHOICES)) < 0.1,
    f"range {flat:.2f} nats; {grows:.1f}-fold; {guess:.2f}, where ln {CHOICES} = {np.log(CHOICES):.2f}",
)
gain = np.median(losses[1] - losses[3])
lesson.verdict(
    "1/√d_k is a good start and no optimum: learning the factor lowers the loss at every width",
    bool((losses[1] > losses[3]).all()),
    f"by {gain:.2f} of {np.median(losses[1]):.2f}",
)

# %%
figure, (left, right) = plot.axes(2)
plot.theory(left, TASKS, best, f"theory: {SIGNAL:g}/√$d_k$")
plot.measured(left, TASKS, learned, label="learned", series=3)
plot.theory(left, TASKS, TASKS**-0.5, "1/√$d_k$, the start", series=1)
plot.label(
    left,
    title=f"A learned scale falls with slope {slope:.3f}",
    x="key width $d_k$", y="factor", log_x=2, log_y=10,
)  # fmt: skip
for series, name in enumerate(names):
    plot.measured(right, TASKS, losses[series], label=name.replace("d_k", "$d_k$"), series=series, join=True)
right.axhline(np.log(CHOICES), color="black", linewidth=1)
plot.note(right, TASKS[0], np.log(CHOICES), f"a guess: ln {CHOICES}", xytext=(0, 4), textcoords="offset points")
plot.label(
    right,
    title=f"Learning the factor saves {gain:.2f} nats over 1/√$d_k$",
    x="key width $d_k$", y="cross-entropy on new queries (nats)", log_x=2, log_y=2,
    ylim=(0.3, 12), legend={"loc": "upper left", "ncols": 2},
)  # fmt: skip
loss_table = table(losses, np.full(losses.shape[::2], np.nan), TASKS, names)
factor_table = table(learned[None], best, TASKS, ["learned"])
quantity = np.repeat(["loss", "factor"], [len(loss_table["width"]), len(TASKS)])
columns = {name: np.concatenate([loss_table[name], factor_table[name]]) for name in loss_table}
lesson.save(figure, {"quantity": quantity, **columns}, suffix="_learned")

# %% [markdown]
# ## To try
#
# * Let the signal a be the same at every width (0.2, say). What is the best factor now? When do 1/√d_k and 1/d_k fail?
# * Give the keys lengths that differ. Is a plain softmax of a·(q·k) still Bayes' rule? Which term is missing?
# * Start the learned factor at 1 instead. How many steps does it need at d_k = 4,096?
