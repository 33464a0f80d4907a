# %% [markdown]
# # 01 The tensor and its gradient
#
# A network learns by asking, for each of its numbers: if I move this number a little, how does the loss move? The
# answer is the *gradient*. A `Tensor` is an array that can answer, because it remembers how it was made.
#
# In this lesson you look into that memory, walk it backwards by hand, and then put the result before a judge that knows
# no calculus at all: `gradcheck`, which moves each number and looks. At the end the judge itself is measured.

# %%
from decimal import Decimal, localcontext

import numpy as np

import tinyattn as ta
from tinyattn import plot
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)


def tensor(data, **options):
    return ta.Tensor(data, device=lesson.device, **options)


def gradient(leaf):
    """The leaf's gradient as a NumPy array, wherever the leaf lives."""
    return ta.as_tensor(leaf.grad).numpy()


# %% [markdown]
# ## What a node remembers
#
# Take one query and one key, each of two numbers. Their dot product is the *score*, the seed of attention. Squash it,
# and compare it with a target: that is a loss. `requires_grad=True` says: I shall want the gradient for this one.

# %%
query = tensor([0.5, -1.0], requires_grad=True)
key = tensor([2.0, 0.25], requires_grad=True)

product = query * key
score = product.sum()
squashed = score.tanh()
difference = squashed - 0.2
loss = difference * difference
print(f"score {score.item():.4f}   squashed {squashed.item():.4f}   loss {loss.item():.4f}")

# %% [markdown]
# Each result is a *node*. It holds its data, the name of the op that made it, the inputs of that op, and the op's vjp:
# the rule that turns the gradient of the result into gradients of the inputs (*vector-Jacobian product*). The names
# begin with an underscore: look, but do not touch. A leaf, such as `query`, was made by no op.

# %%
named = {"query": query, "key": key, "product": product, "score": score, "squashed": squashed}
named |= {"difference": difference, "loss": loss}
name_of = {node: name for name, node in named.items()}


def sources(node):
    """The inputs that want a gradient; a constant such as 0.2 is remembered as None."""
    return [source for source in node._inputs if source is not None]


def show(node, depth=0, seen=None):
    """Prints the node and, further in, what it was made from."""
    seen = set() if seen is None else seen
    again = node in seen
    seen.add(node)
    made_by = "the same node again" if again else f"made by {node._op}" if node._op else "a leaf"
    print(f"{'    ' * depth}{name_of[node]:<11} shape {node.shape!s:<5} {made_by}")
    for source in [] if again else sources(node):
        show(source, depth + 1, seen)


show(loss)

# %% [markdown]
# `difference` appears twice, because it was used twice: as both factors of a product. Remember that; it matters below.
#
# ## Backwards, by hand and by the tensor
#
# Predict before you run the next cell. The chain rule goes from the loss to the leaves:
#
# * d loss / d difference = 2 · difference, one `difference` from each of the two uses: **gradients of several uses add
#   up**
# * d squashed / d score = 1 − squashed²
# * d score / d query = key, and the other way round

# %%
loss.backward()

d_difference = 2 * difference.item()
d_score = d_difference * (1 - squashed.item() ** 2)
by_hand = {"query": d_score * key.numpy(), "key": d_score * query.numpy()}

for name, expected in by_hand.items():
    print(f"d loss / d {name:<5}  by hand {expected}   by backward {gradient(named[name])}")

gap = max(np.abs(gradient(named[name]) - expected).max() for name, expected in by_hand.items())
lesson.verdict("backward gives what the chain rule gives by hand", gap < 1e-15, f"largest difference {gap:.1e}")

# %% [markdown]
# ## A judge that knows no calculus
#
# `gradcheck(fn, *arrays)` moves every entry of every input by a small step h, down and up, and takes the *central
# difference* (f(x + h) − f(x − h)) / 2h. It compares that with what backward says.
#
# To see the judge at work, plant faults. `@op` makes a function that returns (output, vjp) into an op, so a wrong vjp
# is quickly written. Before you run the cell: softmax's weights sum to one, so raising one score lowers all the other
# weights. Which of these five vjps forget that?

# %%
rng = np.random.default_rng(1)
x = rng.normal(size=(3, 4))


def softmax_with(vjp):
    """softmax with a vjp of our own: vjp(weights, grad) -> gradient of the scores."""

    def softmax(scores):
        weights = ta.softmax.forward(scores)[0]
        return weights, lambda grad: (vjp(weights, grad),)

    return ta.op(softmax)


candidates = {
    "right": lambda w, g: w * (g - (g * w).sum(axis=-1, keepdims=True)),
    "no row sum": lambda w, g: w * g,
    "diagonal": lambda w, g: w * (1 - w) * g,
    "sum along axis 0": lambda w, g: w * (g - (g * w).sum(axis=0, keepdims=True)),
    "sign": lambda w, g: -w * (g - (g * w).sum(axis=-1, keepdims=True)),
    "twice": lambda w, g: 2 * w * (g - (g * w).sum(axis=-1, keepdims=True)),
}

reports = {}
for name, vjp in candidates.items():
    try:
        ta.gradcheck(softmax_with(vjp), x)
        reports[name] = "passes"
    except ta.GradcheckError as error:
        reports[name] = str(error)
    print(f"{name:<17} {reports[name]}")

caught = sum("pattern" in report for name, report in reports.items() if name != "right")
lesson.verdict(
    "gradcheck passes the right vjp, and rejects and names every wrong one",
    reports["right"] == "passes" and caught == len(candidates) - 1,
    f"{caught} of {len(candidates) - 1} faults named",
)

# %% [markdown]
# ## Who judges the judge?
#
# A central difference is not exact either. Two errors pull against each other:
#
# * **cut-off**: f(x ± h) = f ± h f' + h²/2 f'' ± h³/6 f''' + ..., so the central difference is off by h²/6 · f'''. The
#   one-sided difference (f(x + h) − f(x)) / h lacks the cancellation and is off by h/2 · f''.
# * **rounding**: numbers in the computer have gaps between them, relative to their size about *eps* wide (2e-16 in
#   float64, 1e-7 in float32); the gap at a number is its *ulp*. Each value of f is rounded, so it is off by up to half
#   an ulp. The difference of two such errors has a triangular distribution, its median size is (1 − 1/√2) ulp, and it
#   is divided by 2h: it grows as h shrinks.
#
# For f = exp all derivatives are equal, so the *relative* cut-off is h²/6 (or h/2). Predict: on axes that are both
# logarithmic, what are the slopes on the left and on the right, and where is the best h?
#
# The measurement: 200 random points, exact values from Python's `decimal` with 40 digits.

# %%
POINTS = 200
points = np.random.default_rng(2).uniform(-1, 1, size=POINTS)


def exact_exp(values):
    with localcontext(prec=40):
        return [Decimal(float(v)).exp() for v in values]


def relative_error(got, exact):
    return np.array([abs(float((Decimal(float(g)) - e) / e)) for g, e in zip(got, exact, strict=True)])


def difference_errors(dtype, steps, one_sided):
    """(steps, points): relative error of the difference quotient of exp."""
    centre = points.astype(dtype)
    exact = exact_exp(centre)
    errors = []
    for h in steps:
        above, below = (centre + dtype(h)), (centre if one_sided else centre - dtype(h))
        rise = tensor(above).exp().numpy().astype(float) - tensor(below).exp().numpy().astype(float)
        errors.append(relative_error(rise / (above.astype(float) - below.astype(float)), exact))
    return np.array(errors)


runs = {
    "central, float64": (np.float64, 2.0 ** -np.arange(1, 46, 2), False),
    "one-sided, float64": (np.float64, 2.0 ** -np.arange(1, 46, 2), True),
    "central, float32": (np.float32, 2.0 ** -np.arange(1, 19), False),
}


def theory(dtype, steps, one_sided):
    """Median relative error: cut-off and rounding."""
    values = np.exp(points).astype(dtype)
    rounding = (1 - np.sqrt(0.5)) * np.median(np.spacing(values) / values)
    return steps / 2 + rounding / steps if one_sided else steps**2 / 6 + rounding / (2 * steps)


measured = {name: difference_errors(*run) for name, run in runs.items()}
predicted = {name: theory(*run) for name, run in runs.items()}

leaf = tensor(points, requires_grad=True)
leaf.exp().sum().backward()
backward_error = relative_error(gradient(leaf), exact_exp(points))

# %% [markdown]
# Slopes come from straight lines fitted to the logarithms, well away from the bottom of the valley on either side.

# %%


def slope(steps, errors, inside):
    return np.polyfit(np.log(steps[inside]), np.log(np.median(errors, axis=1)[inside]), 1)[0]


best_step, slopes = {}, {}
for name, (dtype, steps, one_sided) in runs.items():
    balance = np.finfo(dtype).eps ** (1 / 2 if one_sided else 1 / 3)
    best_step[name] = steps[np.argmin(np.median(measured[name], axis=1))] / balance
    right, left = (steps > 4 * balance) & (steps < 0.3), steps < balance / 4
    slopes[name] = slope(steps, measured[name], left), slope(steps, measured[name], right)
    print(
        f"{name:<19} slope {slopes[name][0]:+.3f} (rounding) and {slopes[name][1]:+.3f} (cut-off), "
        f"best h = {best_step[name]:.2f} x eps^(1/{2 if one_sided else 3}), "
        f"smallest error {np.median(measured[name], axis=1).min():.1e}"
    )
print(f"backward            error {np.median(backward_error):.1e}, at most {backward_error.max():.1e}")

central, one_sided = slopes["central, float64"], slopes["one-sided, float64"]
lesson.verdict(
    "the error of a central difference falls as h^2 and, below the best h, grows as 1/h",
    abs(central[1] - 2) < 0.05 and abs(central[0] + 1) < 0.1 and abs(one_sided[1] - 1) < 0.05,
    f"slopes {central[1]:.3f} and {central[0]:.3f}; one-sided {one_sided[1]:.3f}",
)
gap = max(float(np.max(np.abs(np.log(np.median(measured[n], axis=1) / predicted[n])))) for n in runs)
lesson.verdict(
    "rounding and cut-off together predict the error at every h, in float64 and float32",
    gap < np.log(2),
    f"measurement and theory differ by a factor of {np.exp(gap):.2f} at most",
)
least = np.median(measured["central, float64"], axis=1).min()
lesson.verdict(
    "backward is nearer to the truth than any difference",
    backward_error.max() < least,
    f"{backward_error.max():.1e} at most against {least:.1e} at the best h",
)

# %% [markdown]
# ## The picture
#
# On the left, the graph of the first cells: time runs upwards, backward runs down. On the right, the valley: lines are
# the theory, markers the median over the points, and a band holds the middle 80% of them. gradcheck takes h near the
# bottom of the float64 valley, which is why it converts everything to float64 first: look at where the valley of
# float32 has its bottom.

# %%
figure, (graph, valley) = plot.axes(2)

places = {
    "query": (0.5, -0.2), "key": (1.5, -0.2), "product": (1, 1.2), "score": (1, 2.4), "squashed": (1, 3.6),
    "difference": (1, 4.8), "loss": (1, 6),
}  # fmt: skip
for name, node in named.items():
    for use, source in enumerate(sources(node)):
        twice = len(set(sources(node))) < len(sources(node))
        bend = (0.5 if use else -0.5) if twice else 0
        arrow = {"arrowstyle": "<|-", "color": "#555555", "connectionstyle": f"arc3,rad={bend}"}
        shrink = {"shrinkA": 16, "shrinkB": 14, "mutation_scale": 8}
        plot.note(graph, *places[name_of[source]], "", xytext=places[name], arrowprops={**arrow, **shrink})
for name, node in named.items():
    text = f"{name}\n" + (f"by {node._op}" if node._op else "leaf")
    box = {"boxstyle": "round,pad=0.3", "facecolor": "white" if node._op else "#dddddd", "edgecolor": "#555555"}
    plot.note(graph, *places[name], text, ha="center", va="center", bbox=box, fontsize=8)
uses = sum(len(sources(node)) for node in named.values())
plot.label(graph, title=f"{len(named)} nodes remember {uses} uses", xlim=(-0.8, 2.8), ylim=(-0.7, 6.5))
graph.set_axis_off()

for series, (name, (_, steps, _)) in enumerate(runs.items()):
    plot.theory(valley, steps, predicted[name], series=series)
    plot.measured(valley, steps, measured[name].T, label=name, series=series)
valley.axhline(np.median(backward_error), color="black", linewidth=1)
plot.note(valley, 1e-5, np.median(backward_error) * 1.5, "backward, float64")
plot.label(
    valley,
    title=f"Slopes {central[1]:.2f} and {central[0]:.2f}, best h = {best_step['central, float64']:.1f} eps$^{{1/3}}$",
    x="step h", y="relative error of the derivative", log_x=10, log_y=10, ylim=(3e-18, 1), legend=(0.03, 0.2),
)  # fmt: skip

rows = [(name, i) for name, (_, steps, _) in runs.items() for i in range(len(steps))]
bands = {name: plot.spread(errors.T) for name, errors in measured.items()}
lesson.save(
    figure,
    {
        "difference": [name for name, _ in rows],
        "step": [runs[name][1][i] for name, i in rows],
        "theory": [predicted[name][i] for name, i in rows],
        **{part: [bands[name][k][i] for name, i in rows] for k, part in enumerate(["median", "low", "high"])},
    },
)

# %% [markdown]
# ## To try
#
# * Plant a fault of your own: let the vjp return the gradient of `exp` for `tanh`. Does gradcheck have a name for it?
# * Replace exp by sin (write an op for it). Its third derivative vanishes at some points: what happens to the band
#   there?
# * Use `loss.backward()` twice. What does `query.grad` hold then, and why is that the right thing for a leaf?
