# %% [markdown]
# # 13 Recurrence against attention
#
# Before attention, a network read a text as you do: one word after another, keeping what matters in a *state*. Such a
# network is called *recurrent*. Attention reads all words at once and lets each look at any other. This lesson sets the
# two side by side on three questions:
#
# * How many steps must wait for each other?
# * How much gradient arrives from a word that lies far back?
# * What does each learn, given the same task and the same number of training steps?
#
# The recurrent side is a *GRU* (gated recurrent unit, Cho et al., 2014): at each token two gates decide how much of the
# state to keep and how much of it to look at.

# %%
import time

import numpy as np

import tinyattn as ta
from tinyattn import nn, optim, plot
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

WIDTH, SEEDS = 24, 8


def draw(*shape, seed=0, requires_grad=False):
    data = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return ta.Tensor(data, requires_grad=requires_grad, device=lesson.device)


# %% [markdown]
# ## Steps that must wait for each other
#
# A tensor remembers what it was made from (lesson 01). So the engine can tell how long the longest chain of ops is that
# leads from the input to the result: each op in it needs the one before it, and no number of processors shortens that
# wait.
#
# Predict: how does the chain grow with the number of tokens n, for the GRU and for attention?


# %%
def longest_chain(result):
    """Ops on the longest way from a leaf to the result, counted from the oldest node to the newest."""
    nodes, stack = {result}, [result]
    while stack:
        for source in stack.pop()._inputs:
            if source is not None and source not in nodes:
                nodes.add(source)
                stack.append(source)
    length = {None: -1}
    for node in sorted(nodes, key=lambda node: node._order):
        length[node] = 1 + max((length[source] for source in node._inputs), default=-1)
    return length[result]


def recurrent(seed=0):
    return nn.GRU(WIDTH, WIDTH, rng=seed).to(lesson.device)


def attending(seed=0):
    return nn.MultiHeadAttention(WIDTH, 1, rng=seed).to(lesson.device)


LENGTHS = 2 ** np.arange(1, 9)
chains = {
    "GRU": [longest_chain(recurrent()(draw(1, n, WIDTH, requires_grad=True))) for n in LENGTHS],
    "attention": [longest_chain(attending()(draw(1, n, WIDTH, requires_grad=True), is_causal=True)) for n in LENGTHS],
}
per_token = np.diff(chains["GRU"]) / np.diff(LENGTHS)
print(f"GRU: {chains['GRU'][0]} ops in a row for {LENGTHS[0]} tokens, {chains['GRU'][-1]} for {LENGTHS[-1]}")
print(f"attention: {chains['attention'][0]} for {LENGTHS[0]} tokens, {chains['attention'][-1]} for {LENGTHS[-1]}")
lesson.verdict(
    "the GRU's chain grows by a fixed number of ops for each token, attention's does not grow",
    len(set(per_token)) == 1 and np.ptp(chains["attention"]) < per_token[0],  # long texts take the tiled way
    f"{per_token.min():.0f} to {per_token.max():.0f} more ops for each token, "
    f"attention {min(chains['attention'])} to {max(chains['attention'])} in all",
)

# %% [markdown]
# ## Gradient against distance
#
# To learn that word 1 matters for word 100, a gradient must come back from word 100 to word 1. In the GRU it passes the
# cell 99 times, and each pass multiplies it by the cell's *Jacobian* J, the matrix d(new state)/d(old state). The new
# state is (1 − z)·n + z·h: the gate z, near 1/2 before training, keeps a share of the old state h, and some of h comes
# in through the candidate n and through the gates. So a pass roughly halves the gradient: 2⁻⁹⁹ is left.
#
# More exactly: let S be the mean of g gᵀ for the gradient g. If the passes are independent of each other, one more pass
# turns S into E[Jᵀ S J]. Apply that again and again, and S shrinks by the same factor ρ² each time: the prediction.
#
# In attention the way back is one step for every distance, so there is nothing to multiply. Untrained weights are all
# near 1/n, and so is the share of the gradient that each token gets.
#
# Predict: at which distance does less arrive through the GRU than through attention over n = 64 tokens?

# %%
LENGTH, BATCH = 64, 16
DISTANCES = np.arange(LENGTH)


def arriving(module, seed, **options):
    """Root mean square of the gradient at each token, by its distance from the last, for a random one at the last."""
    x = draw(BATCH, LENGTH, WIDTH, seed=[seed, 1], requires_grad=True)
    upstream = np.zeros((BATCH, LENGTH, WIDTH), np.float32)
    upstream[:, -1] = np.random.default_rng([seed, 2]).standard_normal((BATCH, WIDTH))
    module(x, **options).backward(ta.Tensor(upstream, device=lesson.device))
    gradient = ta.as_tensor(x.grad).numpy()[:, ::-1].astype(float)
    return np.sqrt((gradient**2).mean(axis=(0, 2)))


def jacobians(seed):
    """(BATCH * LENGTH / 2, WIDTH, WIDTH): d(new state)/d(old state) on random tokens, once the start is forgotten."""
    cell, state, found = recurrent(seed).cell, np.zeros((BATCH, WIDTH), np.float32), []
    W_r, W_z, W_n = np.split(cell.weight_hh.numpy(), 3)
    for token in range(LENGTH):
        x = draw(BATCH, WIDTH, seed=[seed, 3, token]).numpy() @ cell.weight_ih.numpy().T + cell.bias_ih.numpy()
        x_r, x_z, x_n = np.split(x, 3, axis=1)
        h_r, h_z, h_n = np.split(state @ cell.weight_hh.numpy().T + cell.bias_hh.numpy(), 3, axis=1)
        r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
        n = np.tanh(x_n + r * h_n)
        slope = (1 - z) * (1 - n * n)
        through = ((slope * r, W_n), (slope * r * (1 - r) * h_n, W_r), ((state - n) * z * (1 - z), W_z))
        found.append(sum(rows[:, :, None] * W for rows, W in through) + z[:, :, None] * np.eye(WIDTH))
        state = (1 - z) * n + z * state
    return np.concatenate(found[LENGTH // 2 :])


def predicted_rate(seed):
    """ρ: S, started anywhere, comes to shrink by ρ² each time that it is replaced by E[Jᵀ S J]."""
    J, S = jacobians(seed), np.eye(WIDTH)
    for _ in range(60):
        S = S / np.trace(S)
        S = np.mean(J.swapaxes(1, 2) @ S @ J, axis=0)
    return np.sqrt(np.trace(S))


from_gru = np.array([arriving(recurrent(seed), seed) for seed in range(SEEDS)])
from_attention = np.array([arriving(attending(seed), seed, is_causal=True) for seed in range(SEEDS)])
far = slice(2, 25)  # beyond, float32 has little left of it
rates = np.exp([np.polyfit(DISTANCES[far], np.log(row[far]), 1)[0] for row in from_gru])
rho = np.array([predicted_rate(seed) for seed in range(SEEDS)])
shares = from_attention / from_attention.mean(axis=1, keepdims=True)
slope = np.polyfit(DISTANCES[1:], np.median(np.log(shares), axis=0)[1:], 1)[0]
crossing = int(np.argmax(np.median(from_gru, axis=0) < np.median(from_attention, axis=0)))
print(f"GRU: times {rates.mean():.3f} for each token (theory {rho.mean():.3f})")
print(f"attention: times {np.exp(slope):.4f} for each token; it wins from distance {crossing} on")
lesson.verdict(
    "the gradient through a GRU shrinks by the predicted factor for each token",
    abs(rates.mean() / rho.mean() - 1) < 0.1,
    f"measured {rates.mean():.3f} ± {rates.std(ddof=1):.3f} over {SEEDS} seeds, theory {rho.mean():.3f}",
)
lesson.verdict(
    "the gradient through attention does not depend on the distance",
    abs(slope) * LENGTH < 0.5,
    f"a factor of {np.exp(slope * LENGTH):.2f} over {LENGTH} tokens, for the GRU {rates.mean() ** LENGTH:.0e}",
)

# %%
figure, (left, right) = plot.axes(2)
plot.theory(left, LENGTHS, chains["GRU"][0] + per_token[0] * (LENGTHS - LENGTHS[0]), "theory: a line in n")
plot.measured(left, LENGTHS, chains["GRU"], label="GRU", series=0)
plot.measured(left, LENGTHS, chains["attention"], label="attention", series=1, join=True)
plot.label(
    left,
    title=f"{per_token[0]:.0f} more ops in a row for each token, or none",
    x="number of tokens n",
    y="ops that wait for each other",
    log_x=2,
    log_y=10,
)
predicted = np.median(from_gru, axis=0)[2] * rho.mean() ** (DISTANCES - 2.0)
plot.theory(right, DISTANCES, predicted, "theory: $\\rho^{distance}$")
plot.measured(right, DISTANCES[::3], from_gru[:, ::3], label="GRU", series=0)
plot.measured(right, DISTANCES[::3], from_attention[:, ::3], label="attention", series=1)
plot.label(
    right,
    title=f"The GRU's gradient: times {rates.mean():.2f} for each token",
    x="distance back from the last token",
    y="gradient that arrives (RMS)",
    log_y=10,
    legend="lower left",
)
lesson.save(
    figure,
    {
        "distance": DISTANCES,
        "gru": np.median(from_gru, axis=0),
        "attention": np.median(from_attention, axis=0),
        "theory_gru": predicted,
    },
)

# %% [markdown]
# ## The same task for both
#
# The first of n symbols is the answer; the n − 1 behind it are noise. After the last one the network must say what the
# first one was. Both read the same embedding and are trained for the same number of steps with the same optimizer. The
# attention has a learned vector for each position, since without one it could not tell first from last (lesson 06).
#
# Pure guessing is right once in eight.
#
# Predict: up to which n does the GRU learn it in so few steps?

# %%
SYMBOLS, STEPS, SAMPLES, RUNS = 8, 600 if lesson.full else 120, 32, 5 if lesson.full else 3
TASKS = (2, 4, 8, 16, 32, 64) if lesson.full else (2, 4, 8, 12, 16, 24)


class Recurrent(nn.Module):
    def __init__(self, length, rng):
        self.tokens, self.gru = nn.Embedding(SYMBOLS, WIDTH, rng), nn.GRU(WIDTH, WIDTH, rng)
        self.head = nn.Linear(WIDTH, SYMBOLS, rng=rng)

    def forward(self, ids):
        return self.head(self.gru(self.tokens(ids))[:, -1])


class Attending(nn.Module):
    def __init__(self, length, rng):
        self.tokens, self.places = nn.Embedding(SYMBOLS, WIDTH, rng), nn.Embedding(length, WIDTH, rng)
        self.attention = nn.MultiHeadAttention(WIDTH, 1, rng=rng)
        self.head = nn.Linear(WIDTH, SYMBOLS, rng=rng)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(np.arange(ids.shape[1]))
        return self.head(self.attention(x[:, -1:], x)[:, 0])


def accuracy(kind, length, seed):
    """Share of right answers on fresh sequences after training."""
    rng = np.random.default_rng([seed, length])
    model = kind(length, rng).to(lesson.device)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        ids = rng.integers(0, SYMBOLS, (SAMPLES, length))
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(ids), ids[:, 0])
        nn.check_finite(loss, step)
        loss.backward()
        optim.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
    ids = rng.integers(0, SYMBOLS, (400, length))
    with ta.no_grad():
        return np.mean(model(ids).numpy().argmax(axis=-1) == ids[:, 0])


kinds = {"GRU": Recurrent, "attention": Attending}
right = {name: np.zeros((RUNS, len(TASKS))) for name in kinds}
for i, length in enumerate(TASKS):
    for name, kind in kinds.items():
        right[name][:, i] = [accuracy(kind, length, seed) for seed in range(RUNS)]
    print(f"n = {length:>2}: " + ", ".join(f"{name} {np.median(right[name][:, i]):.0%}" for name in kinds))

solved = {
    name: [n for n, share in zip(TASKS, np.median(right[name], axis=0), strict=True) if share > 0.9] for name in kinds
}
longest = {name: max(solved[name], default=0) for name in kinds}
lesson.verdict(
    f"in {STEPS} steps attention learns to recall over longer distances than the GRU",
    longest["attention"] > longest["GRU"],
    f"over 90% right up to n = {longest['attention']} against n = {longest['GRU']}, median of {RUNS} seeds",
)

# %%
figure, ax = plot.axes(1, width=5.6)
plot.theory(ax, TASKS, np.full(len(TASKS), 1 / SYMBOLS), f"guessing: 1/{SYMBOLS}")
plot.measured(ax, TASKS, right["GRU"], label="GRU", series=0, join=True)
plot.measured(ax, TASKS, right["attention"], label="attention", series=1, join=True)
plot.label(
    ax,
    title=f"{STEPS} steps: recall up to n = {longest['GRU']} (GRU) and {longest['attention']} (attention)",
    x="number of tokens n (the answer is the first)",
    y="share of right answers",
    ylim=(0, 1.05),
    legend="center left" if longest["GRU"] > 8 else "best",
)
lesson.save(
    figure,
    {"n": TASKS} | {f"{name}_seed{seed}": right[name][seed] for name in kinds for seed in range(RUNS)},
    suffix="_recall",
)

# %% [markdown]
# ## Time per token
#
# The GRU pays the same for each token, attention pays for each *pair*: per token its cost grows with n. But the GRU's
# steps wait for each other, and each is too small to keep a processor busy. So for short texts attention is cheaper,
# and the lines must cross somewhere.
#
# Predict: the slopes on log axes, and roughly where the lines cross.

# %%
TIMED = 2 ** np.arange(4, 12 if lesson.full else 11)
modules = {"GRU": (recurrent(), {}), "attention": (attending(), {"is_causal": True})}
seconds = {name: np.full((5, len(TIMED)), np.nan) for name in modules}
for repeat in range(5):
    for i, n in enumerate(TIMED):
        for name, (module, options) in modules.items():
            x = draw(1, n, WIDTH, requires_grad=True)
            start = time.perf_counter()
            module(x, **options).sum().backward()
            seconds[name][repeat, i] = time.perf_counter() - start
micro = {name: 1e6 * seconds[name] / TIMED for name in modules}
late = slice(-3, None)
steep = {name: np.polyfit(np.log(TIMED[late]), np.log(np.median(micro[name], axis=0)[late]), 1)[0] for name in modules}
faster = np.median(micro["GRU"], axis=0) / np.median(micro["attention"], axis=0)
print(f"slopes over the last three lengths: GRU {steep['GRU']:+.2f}, attention {steep['attention']:+.2f}")
lesson.verdict(
    f"attention is the faster one at every length up to {TIMED[-1]:,}",
    np.all(faster > 1),
    f"{faster[0]:.0f} times as fast at n = {TIMED[0]}, {faster[-1]:.0f} times at n = {TIMED[-1]:,}",
)

# %%
figure, ax = plot.axes(1, width=5.6)
for series, name in enumerate(modules):
    plot.measured(ax, TIMED, micro[name], label=name, series=series, join=True)
plot.label(
    ax,
    title=f"Attention: {faster[0]:.0f} times as fast at n = {TIMED[0]}, {faster[-1]:.0f} times at {TIMED[-1]:,}",
    x="number of tokens n",
    y="time per token, forward and backward (µs)",
    log_x=2,
    log_y=10,
)
lesson.save(figure, {"n": TIMED} | {f"{name}_us": np.median(micro[name], axis=0) for name in modules}, suffix="_timing")

# %% [markdown]
# ## What to try
#
# * Start the GRU with its update gate open: add 3 to the second third of `bias_ih`. z is then near 0.95. What becomes
#   of ρ, of the gradient at distance 60, and of the recall task?
# * Take the positions away from `Attending`. What share is right now, and why not 1/8?
# * `python lessons/13_recurrence.py --full` trains five times as long. How far does the GRU get?
