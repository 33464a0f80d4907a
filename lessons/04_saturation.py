# %% [markdown]
# # 04 Softmax saturates
#
# "We suspect that for large values of d_k, the dot products grow large in magnitude, pushing the softmax function into
# regions where it has extremely small gradients." (Vaswani et al., 2017, section 3.2.1.) That is the reason they give
# for the scale. It was a suspicion; here you measure it.
#
# *Saturated* means that one weight is nearly 1 and the others are nearly 0. Then a small change of the scores changes
# nothing, and what changes nothing cannot be learned from. Four quantities tell how far things have gone:
#
# * the **entropy** of a row of weights: ln S for S equal weights, 0 for a single one;
# * the **largest weight**;
# * the **norm of the Jacobian**, the table of d weight_i / d score_j = w_i (1 if i = j else 0) − w_i w_j;
# * the **gradient** that arrives at the queries and the keys.

# %%
import math

import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

WIDTHS = 2 ** np.arange(13)  # d_k from 1 to 4096
QUERIES, KEYS, VALUE_WIDTH, SEEDS = 128, 32, 8, 20
scales = {"no scale": lambda d: 1.0, "1/√d_k": lambda d: d**-0.5}


def tensor(array, **options):
    return ta.Tensor(array, device=lesson.device, **options)


def gradient(leaf):
    """The leaf's gradient as a NumPy array, wherever the leaf lives."""
    return ta.as_tensor(leaf.grad).numpy()


def jacobian_norm(top, rest):
    """Frobenius norm of diag(w) - w wᵀ for rows w, given as the largest weight (rows, 1) and the rest (rows, S - 1).

    Kept apart, since near saturation 1 - top has lost its digits where the sum of the rest still has them.
    """
    with_top = top**2 * (2 * rest**2 + rest * rest.sum(axis=-1, keepdims=True))  # top's row, column and diagonal entry
    among_rest = rest**2 * (1 - 2 * rest + np.sum(rest**2, axis=-1, keepdims=True))
    return np.sqrt(np.sum(with_top + among_rest, axis=-1))


def describe(scaled, weights):
    """What says how saturated a table of weights is, as means over its rows; and the Jacobian's norm row by row."""
    ordered = np.sort(weights, axis=-1)
    top, rest = ordered[:, -1:], ordered[:, :-1]
    norms = jacobian_norm(top, rest)
    means = {
        "entropy": ta.entropy(scaled).numpy().mean(),
        "largest weight": top.mean(),
        "1 - largest weight": rest.sum(axis=-1).mean(),
        "Jacobian norm": norms.mean(),
    }
    return means, norms


# %% [markdown]
# ## Measure
#
# Queries, keys and values are normal, and so is the gradient that comes from above. `attention_steps` gives every
# intermediate. *Median* means the typical query; the *root mean square* (rms) is what a few large ones can carry alone.
#
# Before you look: without a scale, do you expect the gradient to vanish for all queries alike?


# %%
def observe(width, seed):
    """{scale: {quantity: value}} for one draw, which all scales share."""
    rng = np.random.default_rng([seed, width])
    query, upstream = rng.normal(size=(QUERIES, width)), rng.normal(size=(QUERIES, VALUE_WIDTH))
    key, value = rng.normal(size=(KEYS, width)), rng.normal(size=(KEYS, VALUE_WIDTH))
    return {name: observe_scaled(query, key, value, upstream, scale(width)) for name, scale in scales.items()}


def observe_scaled(query, key, value, upstream, factor):
    query, key = tensor(query, requires_grad=True), tensor(key, requires_grad=True)
    steps = ta.attention_steps(query, key, tensor(value), scale=factor)
    steps.output.backward(ta.as_tensor(upstream, device=lesson.device))
    found, _ = describe(steps.scaled, steps.weights.numpy())
    for name, leaf in {"query": query, "key": key}.items():
        length = np.linalg.norm(gradient(leaf), axis=-1)
        found[f"{name} gradient, median"] = np.median(length)
        found[f"{name} gradient, rms"] = np.sqrt(np.mean(length**2))
    return found


draws = [[observe(int(width), seed) for width in WIDTHS] for seed in range(SEEDS)]
quantities = list(draws[0][0]["no scale"])
measured = {  # {scale: {quantity: (SEEDS, widths)}}
    name: {q: np.array([[draw[name][q] for draw in row] for row in draws]) for q in quantities} for name in scales
}

print(f"{'':<25}" + "".join(f"{name + ', d_k = ' + str(d):>22}" for name in scales for d in WIDTHS[[0, -1]]))
for quantity in quantities:
    cells = [np.median(measured[name][quantity], axis=0)[i] for name in scales for i in (0, -1)]
    print(f"{quantity:<25}" + "".join(f"{cell:>22.3g}" for cell in cells))

# %% [markdown]
# ## Theory
#
# For wide keys a score is a normal number of variance σ², with σ = √d_k without a scale and σ = 1 with it. So the
# expected value of each quantity can be had without queries and keys at all: draw rows of normal numbers, multiply by
# σ, take the softmax. These are the lines of the figures. With 1/√d_k they are level: nothing depends on the width any
# more.
#
# Without a scale there is also a formula for large σ. Only the two largest scores matter then, and only where they
# happen to be close. The gap g between them, in units of σ, has some density p at 0: p = S(S − 1) ∫ φ(x)² Φ(x)^(S − 2)
# dx. Both weights follow from the gap, 1/(1 + e^(σg)) is the smaller one. Integrating over the gap, every quantity
# becomes p/σ times a number:
#
# * entropy: π²/6, the integral of the entropy of two weights
# * 1 − largest weight: ln 2
# * norm of the Jacobian: 1
#
# So all three fall as 1/√d_k in the end: a slope of −1/2 on logarithmic axes.
#
# For the gradient: a row of scores gets factor · J·g, with J the Jacobian and g the gradient of the weights, whose
# entries have variance Ev, the value width. Then it is multiplied by the keys, each of length √d_k. Altogether factor ·
# √(d_k Ev) · |J| for a query, where the rms takes the mean of |J|². For large σ that mean is p/(3σ). The keys share the
# same sum of squares among fewer: √(L/S) times as much for each.

# %%
rows = np.random.default_rng(0).normal(size=(10000, KEYS))


def expected(width, scale):
    """{quantity: value} if scores were exactly normal."""
    scaled = tensor(rows * (scale(width) * width**0.5))
    means, norms = describe(scaled, ta.softmax(scaled).numpy())
    size = scale(width) * (width * VALUE_WIDTH) ** 0.5
    rms = size * np.sqrt(np.mean(norms**2))
    return means | {
        "query gradient, median": size * np.median(norms),
        "query gradient, rms": rms,
        "key gradient, median": np.nan,  # of sums over the queries: no simple formula
        "key gradient, rms": rms * (QUERIES / KEYS) ** 0.5,
    }


predictions = {name: [expected(int(width), scale) for width in WIDTHS] for name, scale in scales.items()}
theory = {name: {q: np.array([p[q] for p in predictions[name]]) for q in quantities} for name in scales}

x = np.linspace(-8, 8, 4001)
density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
below = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])
near = KEYS * (KEYS - 1) * np.sum(density**2 * below ** (KEYS - 2)) * (x[1] - x[0])
limits = {"entropy": math.pi**2 / 6, "1 - largest weight": math.log(2), "Jacobian norm": 1.0}
print(f"density of the gap at 0, for {KEYS} keys: {near:.3f}")

# %% [markdown]
# ## Compare

# %%
wide = WIDTHS >= 256
at_end, to_normal, ratio, level = {}, {}, {}, {}
for quantity, number in limits.items():
    without, with_scale = (measured[name][quantity].mean(axis=0) for name in scales)
    at_end[quantity] = without[-1], with_scale[-1]
    to_normal[quantity] = np.mean(without[wide] / theory["no scale"][quantity][wide])
    ratio[quantity] = np.mean(without[wide] * WIDTHS[wide] ** 0.5) / (near * number)
    level[quantity] = np.ptp(with_scale[WIDTHS >= 16]) / with_scale[-1]
    print(
        f"{quantity:<18}  without a scale {to_normal[quantity]:.2f} times that of normal scores, {ratio[quantity]:.2f} "
        f"times the formula for large σ; with it {with_scale[-1]:.3f}, level within {level[quantity]:.1%}"
    )
lesson.verdict(
    "without a scale, entropy, 1 - largest weight and the Jacobian's norm fall as 1/√d_k",
    all(abs(times - 1) < 0.12 for times in (*to_normal.values(), *ratio.values())),
    f"from d_k = {WIDTHS[wide][0]} on {min(ratio.values()):.2f} to {max(ratio.values()):.2f} times the formula, "
    f"{min(to_normal.values()):.2f} to {max(to_normal.values()):.2f} times normal scores",
)
lesson.verdict(
    "with 1/√d_k they stay where they are from d_k = 16 on",
    all(change < 0.05 for change in level.values()),
    f"within {max(level.values()):.1%}",
)

typical = {name: np.median(measured[name]["query gradient, median"], axis=0) for name in scales}
rms = {name: np.sqrt(np.mean(measured[name]["query gradient, rms"] ** 2, axis=0)) for name in scales}
lost = typical["no scale"][-1] / typical["1/√d_k"][-1]
rms_slope = np.polyfit(np.log(WIDTHS[wide]), np.log(rms["no scale"][wide]), 1)[0]
lesson.verdict(
    "without a scale the gradient of the typical query vanishes as the keys get wider",
    lost < 1e-3,
    f"at d_k = {WIDTHS[-1]} it has {lost:.1e} of the size that it has with the scale",
)
lesson.verdict(
    "but not for all queries: the rms grows, as d_k^(1/4), since a few near ties carry it",
    abs(rms_slope - 0.25) < 0.1,
    f"slope {rms_slope:.3f}; finally {rms['no scale'][-1] / typical['no scale'][-1]:.1e} times the typical gradient, "
    f"with the scale {rms['1/√d_k'][-1] / typical['1/√d_k'][-1]:.2f}",
)

# %% [markdown]
# ## The pictures
#
# A title gives the value at the widest key, without the scale and with it. Solid and dashed: normal scores. Dotted: the
# formula for large σ. At d_k = 1 and 2 a score is far from normal (its kurtosis is 9 and 6, see lesson 02), and the
# markers leave the lines a little.


# %%
def both_scales(ax, quantity):
    for series, name in enumerate(scales):
        plot.theory(ax, WIDTHS, theory[name][quantity], series=series)
        plot.measured(ax, WIDTHS, measured[name][quantity], label=name.replace("d_k", "$d_k$"), series=series)


names = {
    "entropy": "entropy of a row (nats)",
    "1 - largest weight": "1 - largest weight",
    "Jacobian norm": "norm of the Jacobian",
}
figure, panels = plot.axes(3)
for ax, (quantity, name) in zip(panels, names.items(), strict=True):
    both_scales(ax, quantity)
    ax.plot(WIDTHS[wide], near * limits[quantity] / WIDTHS[wide] ** 0.5, color="black", linestyle=":", zorder=4)
    plot.label(
        ax,
        title="{}{}: {:.2g} instead of {:.2g}".format(quantity[0].upper(), quantity[1:], *at_end[quantity]),
        x="key width $d_k$", y=name, log_x=2, log_y=10, legend="lower left",
    )  # fmt: skip
equal = math.log(KEYS)
panels[0].axhline(equal, color="black", linewidth=1)
plot.note(panels[0], WIDTHS[-1], equal, f"equal weights: ln {KEYS}", ha="right", va="bottom")


def table(shown):
    """Columns of a CSV, one row for each quantity shown, scale and width."""
    cases = [(quantity, name) for quantity in shown for name in scales]
    bands = np.hstack([plot.spread(measured[name][quantity]) for quantity, name in cases])
    return {
        "quantity": np.repeat([quantity for quantity, _ in cases], len(WIDTHS)),
        "scale": np.repeat([name for _, name in cases], len(WIDTHS)),
        "width": np.tile(WIDTHS, len(cases)),
        "theory": np.concatenate([theory[name][quantity] for quantity, name in cases]),
        **dict(zip(("median", "low", "high"), bands, strict=True)),
    }


lesson.save(figure, table(["largest weight", *names]))

# %% [markdown]
# The gradient: the typical one falls off a cliff while the rms rises. Training without a scale would not be quiet. It
# would be nothing, nothing, nothing, and then a blow from one near tie. A key is luckier than a query: it meets many
# queries, and some of them are at a near tie, so even the typical key hears from someone. It hears from few, though,
# and loudly.

# %%
figure, panels = plot.axes(2)
for ax, side in zip(panels, ("query", "key"), strict=True):
    for series, (name, kind) in enumerate((name, kind) for kind in ("rms", "median") for name in scales):
        quantity = f"{side} gradient, {kind}"
        shown = f"{name.replace('d_k', '$d_k$')}, {kind}"
        plot.measured(ax, WIDTHS, measured[name][quantity], label=shown, series=series, join=side == "key")
        plot.theory(ax, WIDTHS, theory[name][quantity], series=series)
    share = np.median(measured["no scale"][f"{side} gradient, median"], axis=0)[-1]
    share /= np.median(measured["1/√d_k"][f"{side} gradient, median"], axis=0)[-1]
    plot.label(
        ax,
        title=f"The typical {side} gets {plot.number(float(f'{share:.1g}'))} times that with the scale",
        x="key width $d_k$", y=f"gradient of a {side} (length)", log_x=2, log_y=10,
        legend="lower left" if side == "query" else None,
    )  # fmt: skip
gradients = [f"{side} gradient, {kind}" for side in ("query", "key") for kind in ("rms", "median")]
lesson.save(figure, table(gradients), suffix="_gradients")

# %% [markdown]
# ## Does it matter for learning?
#
# A small regression. Each token is a vector of 8 numbers; the right answer for a token is the average of all values,
# weighted by how alike the tokens are, softmax(2 x·x' / √8), plus a little noise, so that no model can get below the
# variance of the noise. The model has to find that out. It makes queries and keys of width d_k by two matrices, W_q and
# W_k, that start at random, and it learns by plain gradient descent on fresh data, once with the scale 1/√d_k and once
# without.
#
# To be fair: without the scale the same step in W moves the scores √d_k times as far, with a gradient √d_k times as
# large, so its learning rate is divided by d_k. Then each contender may choose the best of seven learning rates.
# Whatever difference is left is due to saturation alone.
#
# Predict: which contender starts with the larger loss? Which has the larger variance among its gradient's entries?

# %%
FEATURES, LENGTH, BATCH, RUNS, STEPS, NOISE = 8, 16, 4, 6, 200, 0.1
RATES = np.array([0.3, 1, 3, 10, 30, 100, 300], dtype=np.float32)
MODEL_WIDTHS = (8, 64, 256)


def normal(rng, *shape):
    return rng.standard_normal(shape, dtype=np.float32)


def train(width, scale):
    """(steps, rates, runs): the loss, and the variance of the entries of its gradient by W_q."""
    rng = np.random.default_rng(3)
    start = [normal(rng, RUNS, 1, FEATURES, width) / np.float32(FEATURES**0.5) for _ in "qk"]
    w_query, w_key = (np.repeat(w[None], len(RATES), axis=0) for w in start)  # all rates train side by side
    rate = (RATES / (1 if scale(width) < 1 else width)).reshape(-1, 1, 1, 1, 1)
    losses, variances = [], []
    for _ in range(STEPS):
        tokens, value = tensor(normal(rng, RUNS, BATCH, LENGTH, FEATURES)), tensor(normal(rng, RUNS, BATCH, LENGTH, 4))
        noise = tensor(np.float32(NOISE) * normal(rng, *value.shape))
        target = ta.scaled_dot_product_attention(tokens, tokens, value, scale=2 / FEATURES**0.5) + noise
        to_query, to_key = tensor(w_query, requires_grad=True), tensor(w_key, requires_grad=True)
        output = ta.scaled_dot_product_attention(tokens @ to_query, tokens @ to_key, value, scale=scale(width))
        error = output - target
        loss = (error * error).mean(axis=(2, 3, 4))
        loss.sum().backward()  # the runs do not mix, so each gets its own gradient
        losses.append(loss.numpy())
        variances.append(gradient(to_query).var(axis=(2, 3, 4)))
        w_query -= rate * gradient(to_query)
        w_key -= rate * gradient(to_key)
    return np.array(losses), np.array(variances)


results, best = {}, {}
for width in MODEL_WIDTHS:
    for name, scale in scales.items():
        losses, variances = train(width, scale)
        final = np.median(losses[-20:], axis=(0, 2))  # for each rate
        chosen = int(np.argmin(final))
        results[name, width], best[name, width] = (losses[:, chosen], variances[:, chosen]), final[chosen]
        print(
            f"d_k = {width:<4} {name:<9} loss {np.median(losses[:5]):.3f} -> {final[chosen]:.2g} "
            f"with rate {RATES[chosen]:g}, the best of {RATES[0]:g} to {RATES[-1]:g}"
        )

first, last = MODEL_WIDTHS[0], MODEL_WIDTHS[-1]
times = {width: best["no scale", width] / best["1/√d_k", width] for width in MODEL_WIDTHS}
lesson.verdict(
    "without the scale a wide model learns worse, at its best learning rate too",
    times[last] > 3,
    f"at d_k = {last} the final loss is {times[last]:.3g} times as large, at d_k = {first} {times[first]:.3g} times",
)
start = {name: np.median(results[name, last][1][:5]) for name in scales}
lesson.verdict(
    "without the scale the variance of the gradient's entries is larger at the start",
    start["no scale"] > 3 * start["1/√d_k"],
    f"{start['no scale'] / start['1/√d_k']:.3g} times as large at d_k = {last}",
)

# %%
figure, (left, right) = plot.axes(2)
shown = np.unique(np.geomspace(1, STEPS, 24).astype(int)) - 1
columns = []
for series, name in enumerate(scales):
    for ax, values in zip((left, right), results[name, last], strict=True):
        plot.measured(ax, shown + 1, values[shown].T, label=name.replace("d_k", "$d_k$"), series=series, join=True)
    columns += [
        (name, step + 1, *(part for v in results[name, last] for part in plot.spread(v[step]))) for step in shown
    ]
plot.theory(left, [1, STEPS], [NOISE**2, NOISE**2], "the noise")
plot.label(
    left,
    title=f"Final loss {best['no scale', last]:.2g} without the scale, {best['1/√d_k', last]:.2g} with it",
    x="step", y="mean squared error", log_x=10, log_y=10, legend=(0.02, 0.15),
)  # fmt: skip
plot.label(
    right,
    title=f"Gradient's variance: {start['no scale'] / start['1/√d_k']:.0f} times as large at first",
    x="step", y="variance of the entries of d loss / d $W_q$", log_x=10, log_y=10, legend="lower left",
)  # fmt: skip
heads = ("scale", "step", "loss", "loss low", "loss high", "variance", "variance low", "variance high")
lesson.save(figure, dict(zip(heads, zip(*columns, strict=True), strict=True)), suffix="_training")

# %% [markdown]
# ## To try
#
# * Use 1/d_k in place of 1/√d_k for the first figure. Which of the four quantities tells that something is lost, too?
# * Give the model without a scale smaller weights at the start: divide W_q by √d_k. Why does that help, and is it the
#   same?
# * Count the queries that carry half of the sum of all squared gradients at d_k = 4,096, with the scale and without.
