# %% [markdown]
# # 14 A decoder that learns
#
# Everything comes together: characters become vectors, two layers of causal attention let each character look back at
# those before it, and a last product says which character comes next. Trained on real English, such a *decoder* starts
# to write.
#
# Three questions, each with a twin of the model in which one thing is different:
#
# * What does the division by √d_k (lesson 03) do for training?
# * What does it look like from inside: gradients in each layer, entropy of the weights?
# * What happens when somebody forgets the mask?
#
# The text is one that every Python carries: the help on its language (`pydoc_data.topics`).

# %%
import re
from pydoc_data.topics import topics

import numpy as np
from rich.console import Console
from rich.progress import track

import tinyattn as ta
from tinyattn import nn, optim, plot
from tinyattn.attention.multihead import split_heads
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)

WIDTH, HEADS, LAYERS, LENGTH = (128, 2, 3, 96) if lesson.full else (64, 1, 2, 48)
STEPS, BATCH, RATE, SEEDS = (2800, 32, 2e-3, 3) if lesson.full else (140, 16, 4e-3, 3)
EVERY = STEPS // 14  # steps between two looks inside

# %% [markdown]
# ## Characters as numbers
#
# Every character gets a number. What is not plain ASCII becomes a question mark, so that the alphabet stays small. The
# last tenth of the text is kept apart: the model never trains on it, and its loss there is what counts.

# %%
text = re.sub(r"[^\n -~]", "?", "\n".join(topics[name] for name in sorted(topics)))
alphabet = sorted(set(text))
ids = np.searchsorted(np.array(alphabet), np.array(list(text)))
kept = len(ids) - len(ids) // 10
training, held_out = ids[:kept], ids[kept:]


def characters(numbers):
    return "".join(alphabet[i] for i in numbers)


def windows(source, rng, count):
    """(count, LENGTH + 1): stretches of text from random places."""
    return source[rng.integers(0, len(source) - LENGTH, count)[:, None] + np.arange(LENGTH + 1)]


probe = windows(held_out, np.random.default_rng(0), 64)
frequency = np.bincount(training, minlength=len(alphabet)) / len(training)
by_frequency = -np.log(np.maximum(frequency, 1e-9))[probe[:, 1:]].mean()
print(f"{len(text):,} characters, {len(alphabet)} different ones; held out: {len(held_out):,}")
print(f"loss of guessing alike: {np.log(len(alphabet)):.2f} nats; by how often each occurs: {by_frequency:.2f}")

# %% [markdown]
# ## The model, and the three ways to build it
#
# Lesson 02 assumed queries and keys whose components have variance 1. The usual start of a `Linear` layer gives them
# 1/3, so the query's and the key's weights begin √3 times as large: the theorem's case.
#
# * *scaled*: scores divided by √d_k.
# * *unscaled*: the same start, the same batches, no division.
# * *no mask*: scaled, but each character may look ahead, also at the one that it should predict.


# %%
TWINS = {"scaled": {}, "unscaled": {"scale": 1.0}, "no mask": {"is_causal": False}}


def build(name, seed):
    model = nn.TransformerDecoder(len(alphabet), WIDTH, HEADS, LAYERS, LENGTH, rng=seed, **TWINS[name])
    for block in model.blocks:
        for projection in (block.attention.q_proj, block.attention.k_proj):
            projection.weight.data *= np.float32(3**0.5)
    return model.to(lesson.device)


def attention_of(model, numbers):
    """For each layer the weights (batch, heads, L, L), and their entropy in nats, averaged over all queries."""
    weights, entropies = [], []
    with ta.no_grad():
        x = model.tokens(numbers) + model.positions[: numbers.shape[-1]]
        for block in model.blocks:
            attention, normed = block.attention, block.norm1(x)
            query, key, value = (
                split_heads(projection(normed), HEADS)
                for projection in (attention.q_proj, attention.k_proj, attention.v_proj)
            )
            steps = ta.attention_steps(query, key, value, is_causal=model.is_causal, scale=attention.scale)
            weights.append(steps.weights.numpy())
            entropies.append(ta.entropy(steps.masked).mean().item())
            x = block(x, model.is_causal)
    return weights, entropies


def loss_on(model, batch):
    return nn.cross_entropy(model(batch[:, :-1]), batch[:, 1:])


# %% [markdown]
# ## Training
#
# Batch, learning rate and everything else follow from the seed and the number of the step alone. So two runs give the
# same losses to the last bit, and a run that was stopped goes on as if nothing had happened: with `--full` it leaves a
# *checkpoint* in the figures folder from time to time. Should the loss ever be NaN, training stops and says which op
# made the first number that was not finite.


# %%
class Run:
    """One model's training: its losses, and every EVERY steps the gradient's variance and the entropy of each layer."""

    def __init__(self, name, seed):
        self.name, self.seed = name, seed
        self.model = build(name, seed)
        self.optimizer = optim.AdamW(self.model.parameters(), RATE)
        self.losses = np.full(STEPS, np.nan)
        self.variances, self.entropies = np.full((2, STEPS // EVERY, LAYERS), np.nan)
        self.checkpoint = lesson.figures / f"{lesson.name}_{name.replace(' ', '_')}_{seed}.npz" if lesson.full else None

    def step(self, step):
        batch = windows(training, np.random.default_rng([self.seed, step]), BATCH)
        self.optimizer.zero_grad()
        loss = loss_on(self.model, batch)
        nn.check_finite(loss, step)
        loss.backward()
        if step % EVERY == 0 and step // EVERY < len(self.variances):
            gradients = [ta.as_tensor(block.attention.q_proj.weight.grad).numpy() for block in self.model.blocks]
            self.variances[step // EVERY] = [gradient.var(dtype=float) for gradient in gradients]
            self.entropies[step // EVERY] = attention_of(self.model, probe[:8, :-1])[1]
        optim.clip_grad_norm(self.model.parameters(), 1.0)
        self.optimizer.lr = optim.warmup_cosine(step, RATE, STEPS // 10, STEPS)
        self.optimizer.step()
        self.losses[step] = loss.item()

    def train(self):
        """All steps, from the checkpoint on if there is one."""
        first = self.resume()
        steps = range(first, STEPS)
        bar = Console(stderr=True)
        shown = track(steps, f"{self.name}, seed {self.seed}", console=bar, disable=not lesson.full, transient=True)
        for step in shown:
            self.step(step)
            if self.checkpoint and (step % 100 == 99 or step == STEPS - 1):
                self.save(step + 1)
        return self

    def save(self, step):
        state = {f"model/{name}": x for name, x in self.model.state_dict().items()}
        state |= {f"optimizer/{name}": x for name, x in self.optimizer.state_dict().items()}
        history = {"losses": self.losses, "variances": self.variances, "entropies": self.entropies}
        nn.save(self.checkpoint, {**state, **history, "step": np.array(step)})

    def resume(self):
        """Takes the state of the checkpoint and returns the next step; 0 without one."""
        if not self.checkpoint or not self.checkpoint.exists():
            return 0
        state = nn.load(self.checkpoint)
        for part, owner in (("model/", self.model), ("optimizer/", self.optimizer)):
            owner.load_state_dict({n.removeprefix(part): x for n, x in state.items() if n.startswith(part)})
        self.losses, self.variances, self.entropies = (state[n] for n in ("losses", "variances", "entropies"))
        return int(state["step"])

    def held_out_loss(self):
        """Where it counts: on text that it has not seen, and with the mask on, as when it writes."""
        with ta.no_grad():
            self.model.is_causal, before = True, self.model.is_causal
            loss = loss_on(self.model, probe).item()
            self.model.is_causal = before
        return loss


runs = {name: [Run(name, seed).train() for seed in range(SEEDS)] for name in ("scaled", "unscaled")}
runs["no mask"] = [Run("no mask", 0).train()]

# %% [markdown]
# ## With and without the scale
#
# Without the division a score has standard deviation √d_k instead of 1, so the softmax starts out *saturated* (lesson
# 04): nearly all weight on one key, chosen by chance, and hardly a gradient to choose another.
#
# Predict: which of the two ends lower, and by how much? Do the weights recover?

# %%
final = {name: np.array([run.held_out_loss() for run in runs[name]]) for name in runs}
gap = final["unscaled"] - final["scaled"]
for name in ("scaled", "unscaled"):
    print(
        f"{name:<9} held-out loss {final[name].mean():.3f} (seeds: {', '.join(f'{loss:.3f}' for loss in final[name])})"
    )
lesson.verdict(
    f"the scaled model ends at a lower loss than its unscaled twin at head width {WIDTH // HEADS}",
    bool(np.all(gap > 0)),
    f"lower by {gap.min():.2f} to {gap.max():.2f} nats in {int(np.sum(gap > 0))} of {SEEDS} seeds",
)

entropies = {name: np.array([run.entropies for run in runs[name]]) for name in ("scaled", "unscaled")}
variances = {name: np.array([run.variances for run in runs[name]]) for name in ("scaled", "unscaled")}
equal = np.log(np.arange(1, LENGTH + 1)).mean()
begin = {name: entropies[name][:, 0].mean() / equal for name in entropies}
lesson.verdict(
    "without the scale attention starts saturated",
    begin["unscaled"] < 0.5 * begin["scaled"],
    f"entropy {begin['unscaled']:.0%} of that of equal weights, with the scale {begin['scaled']:.0%}",
)


# %%
def smooth(losses):
    """The mean of every STEPS / 28 losses in a row."""
    return losses.reshape(28, -1).mean(axis=1)


curves = {name: np.array([smooth(run.losses) for run in runs[name]]) for name in runs}
at = (np.arange(curves["scaled"].shape[1]) + 0.5) * STEPS / curves["scaled"].shape[1]
looks = np.arange(STEPS // EVERY) * EVERY
figure, (left, right) = plot.axes(2)
plot.theory(left, [0, STEPS], [by_frequency] * 2, "guessing by frequency")
for series, name in enumerate(("unscaled", "scaled")):
    plot.measured(left, at, curves[name], label=name, series=series, join=True)
    plot.measured(right, looks, entropies[name].mean(axis=2), label=name, series=series, join=True)
plot.theory(right, [0, STEPS], [equal] * 2, "equal weights")
plot.label(
    left,
    title=f"The scale lowers the held-out loss by {gap.mean():.2f} nats",
    x="training step",
    y="loss (nats per character)",
)
plot.label(
    right,
    title=f"Unscaled weights start at {begin['unscaled']:.0%} of the entropy",
    x="training step",
    y="entropy of the weights (nats)",
    ylim=(0, None),
)
table = {"step": looks}
for name in entropies:
    for layer in range(LAYERS):
        table[f"{name}_entropy_layer{layer + 1}"] = np.median(entropies[name][:, :, layer], axis=0)
        table[f"{name}_gradient_variance_layer{layer + 1}"] = np.median(variances[name][:, :, layer], axis=0)
lesson.save(figure, table, suffix="_inside")

# %% [markdown]
# ## Gradients in each layer
#
# The variance of the gradient of the query's weights, layer by layer. A saturated softmax lets little through for most
# queries and, where two keys happen to tie, a great deal for a few. What does that make of the variance?

# %%
ratio = np.median(variances["unscaled"][:, 0] / variances["scaled"][:, 0], axis=0)
drift = {name: np.median(variances[name][:, -1] / variances[name][:, 0]) for name in variances}
print("at the start, unscaled over scaled: " + ", ".join(f"layer {i + 1}: {r:.1f}" for i, r in enumerate(ratio)))
print("end over start: " + ", ".join(f"{name} {drift[name]:.3g}" for name in drift))
figure, panels = plot.axes(LAYERS)
for layer, ax in enumerate(panels):
    for series, name in enumerate(("unscaled", "scaled")):
        plot.measured(ax, looks, variances[name][:, :, layer], label=name, series=series, join=True)
    plot.label(
        ax,
        title=f"Layer {layer + 1}: {ratio[layer]:.2g} times the scaled one's at the start",
        x="training step",
        y="variance of d(loss)/d(query weights)",
        log_y=10,
    )
lesson.save(
    figure,
    {"step": looks} | {f"{name}_seed{i}_layer{j + 1}": variances[name][i, :, j]
                       for name in variances for i in range(SEEDS) for j in range(LAYERS)},
    suffix="_gradients",
)  # fmt: skip

# %% [markdown]
# ## Without the mask
#
# The twin that may look ahead reads the answer off the next place. Its training loss looks wonderful. But when it
# writes, there is no next character to look at.
#
# Predict: its training loss, and its loss on held-out text once the mask is on.

# %%
leaky, honest = runs["no mask"][0], runs["scaled"][0]
seen = {name: smooth(run.losses)[-1] for name, run in (("no mask", leaky), ("scaled", honest))}
print(f"loss while training: {seen['no mask']:.2f} without the mask, {seen['scaled']:.2f} with it")
print(f"loss on held-out text, mask on: {final['no mask'][0]:.2f} and {final['scaled'][0]:.2f}")
lesson.verdict(
    "a forgotten mask lowers the training loss and raises the one that counts",
    seen["no mask"] < seen["scaled"] and final["no mask"][0] > final["scaled"][0],
    f"training {seen['no mask']:.2f} against {seen['scaled']:.2f}, "
    f"held out with the mask {final['no mask'][0]:.2f} against {final['scaled'][0]:.2f}",
)

figure, ax = plot.axes(1, width=5.6)
plot.measured(ax, at, curves["no mask"][0], label="no mask, while training", series=0, join=True)
plot.measured(ax, at, curves["scaled"][0], label="causal, while training", series=1, join=True)
plot.theory(ax, [0, STEPS], [final["no mask"][0]] * 2, "no mask, held out with the mask on", series=0)
plot.theory(ax, [0, STEPS], [final["scaled"][0]] * 2, "causal, held out", series=1)
plot.label(
    ax,
    title=f"The leak: {seen['no mask']:.2f} nats in training, {final['no mask'][0]:.1f} when it counts",
    x="training step",
    y="loss (nats per character)",
    ylim=(0, 1.5 * final["no mask"][0]),
    legend="upper right",
)
lesson.save(figure, {"step": at, "no_mask": curves["no mask"][0], "causal": curves["scaled"][0]}, suffix="_leak")

# %% [markdown]
# ## What a trained head looks at
#
# Rows are queries, columns keys: a row shows where the character at its left looks back to. A dot is a space.

# %%
shown = probe[5, :20]
maps, _ = attention_of(honest.model, shown[None])
signs = {" ": "·", "\n": "\\n"}
names = [signs.get(character, character) for character in characters(shown)]
figure, panels = plot.axes(LAYERS, width=4.8, height=4.6)
recent = [
    float(np.mean([np.sum(np.diagonal(layer[0, 0], -back)) for back in (0, 1)]) * 2 / len(shown)) for layer in maps
]
for layer, ax in enumerate(panels):
    plot.heatmap(ax, maps[layer][0, 0], values="", rows=names, columns=names)
    plot.label(
        ax,
        title=f"Layer {layer + 1}: {recent[layer]:.0%} of the weight on this and the last character",
        x="key: character looked at",
        y="query: character that looks",
        legend=None,
    )
lesson.save(
    figure,
    {"query": np.repeat(np.arange(len(shown)), len(shown)), "key": np.tile(np.arange(len(shown)), len(shown))}
    | {f"layer{layer + 1}": maps[layer][0, 0].ravel() for layer in range(LAYERS)},
    suffix="_maps",
)

# %% [markdown]
# ## A sample
#
# Sixteen characters of the held-out text to start with, then the model goes on alone, one character at a time, each
# drawn from its own weights. Keys and values of the characters so far are kept in a cache, so that each new one costs
# a single row of attention.

# %%
start = probe[3, :16]
for name in ("scaled", "unscaled"):
    written = runs[name][0].model.generate(start, LENGTH - len(start), temperature=0.7, rng=1)
    print(f"{name}: {characters(start)!r} -> {characters(written[len(start) :])!r}")

# %% [markdown]
# ## What to try
#
# * Set the √3 in `build` to 1. The unscaled twin now starts less saturated. How much of its loss does it win back?
# * Give the model four heads (HEADS = 4). Head width is then 16: what becomes of the difference, and what does lesson
#   04 say about that width?
# * `python lessons/14_decoder.py --full` trains a larger model for longer. Stop it with Ctrl-C and start it again.
