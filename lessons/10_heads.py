# %% [markdown]
# # 10 Three projections and many heads
#
# So far queries, keys and values fell from the sky. In a model all three are made from the same tokens, each by a
# *projection*: a matrix that the model learns. And the work is shared out among *heads*: narrow attentions side by
# side, each with projections of its own, whose outputs are joined at the end.
#
# Three questions:
#
# * Why three projections, and not the tokens themselves three times?
# * What can many heads do that one cannot?
# * How are the columns of one wide matrix dealt out to heads, and how is it done wrong?

# %%
import numpy as np

import tinyattn as ta
from tinyattn import nn, optim, plot
from tinyattn.attention.multihead import merge_heads, split_heads
from tinyattn.lesson import Lesson

lesson = Lesson(__file__)


def tensor(data, **options):
    return ta.Tensor(np.asarray(data, np.float32), device=lesson.device, **options)


# %% [markdown]
# ## Why project at all
#
# Take the tokens x as query and as key. Then the score of a token with itself is its squared length, about d, and its
# score with any other is only as large as chance makes it, about √d (lesson 02). After the division by √d: about √d
# against scores of variance 1. The mean of exp(score) over such chance scores is e^½, so with n tokens
#
#     weight on itself ≈ exp(√d) / (exp(√d) + (n − 1) e^½)
#
# Every token looks at itself and hardly anywhere else. Two different matrices for query and key undo that: the score of
# a token with itself is then a product of strangers like all others, and its weight is 1/n.
#
# Predict: from which width on does a token without projections see nothing but itself?

# %%
TOKENS, SEEDS, WIDTHS = 32, 12, 2 ** np.arange(1, 9)


def weight_on_itself(width, seed, projected):
    rng = np.random.default_rng([seed, width])
    x = tensor(rng.normal(size=(TOKENS, width)))
    matrices = rng.normal(size=(2, width, width)) / np.sqrt(width) if projected else [np.eye(width)] * 2
    query, key = (x @ tensor(matrix) for matrix in matrices)
    weights = ta.softmax(ta.scale(ta.scores(query, key), width**-0.5))
    return np.diagonal(weights.numpy()).mean()


itself = {
    name: np.array([[weight_on_itself(int(d), seed, name == "projected") for d in WIDTHS] for seed in range(SEEDS)])
    for name in ("tokens themselves", "projected")
}
own = np.exp(np.sqrt(WIDTHS))
theory = own / (own + (TOKENS - 1) * np.exp(0.5))
alone = itself["tokens themselves"].mean(axis=0)
for d, share, expected in zip(WIDTHS, alone, theory, strict=True):
    print(f"d = {d:>3}: weight on itself {share:.3f} (theory {expected:.3f})")
lesson.verdict(
    "without projections every token comes to look at itself alone; with two of them it does not",
    alone[-1] > 0.99 and abs(itself["projected"].mean(axis=0)[-1] * TOKENS - 1) < 0.25,
    f"at d = {WIDTHS[-1]}: {alone[-1]:.3f} without, {itself['projected'].mean(axis=0)[-1]:.3f} with; "
    f"1/n = {1 / TOKENS:.3f}",
)

# %% [markdown]
# The third projection, for the values, says what a token hands over once it was chosen. That need not be what it was
# chosen by: a noun may be found by its being a noun, and hand over its meaning.
#
# ## What one head cannot do
#
# A head gives each query *one* set of weights, so its output is one average of the values. Let the task be to report
# the contents of three tokens at once: those 1, 2 and 3 places back. With weights a, b, c on the three, the head hands
# on the mixture a·x₁ + b·x₂ + c·x₃ and nothing else. From a mixture, the best linear guess of its three parts gets a
# share of the variance right that adds up to exactly one part in three, whatever a, b and c are. With h heads, each
# may look at another token, so the error is at best
#
#     (3 − h)/3 of the variance for h < 3, and 0 from h = 3 on
#
# if the weights depend on the places alone. The total width is the same for any number of heads: more heads are
# narrower ones.
#
# Predict: does training find it? Weights may depend on the contents as well. Can one head make something of that?

# %%
WIDTH, CONTENT, LENGTH, SOURCES = 24, 4, 8, 3
HEADS = (1, 2, 3, 4, 6)
STEPS, RUNS = (3000, 5) if lesson.full else (500, 3)
PLACES = np.eye(LENGTH, WIDTH, k=CONTENT)  # token i says where it stands in column CONTENT + i


class Reporter(nn.Module):
    """Attention over the tokens and their places, then a linear report of SOURCES contents."""

    def __init__(self, heads, rng):
        self.attention = nn.MultiHeadAttention(WIDTH, heads, rng=rng)
        self.report = nn.Linear(WIDTH, SOURCES * CONTENT, rng=rng)

    def forward(self, tokens):
        return self.report(self.attention(tokens, is_causal=True))


def example(rng, count):
    """Tokens (count, LENGTH, WIDTH), and for each query from SOURCES on the contents 1, 2, 3 places back."""
    content = rng.normal(size=(count, LENGTH, CONTENT))
    tokens = np.concatenate([content, np.zeros((count, LENGTH, WIDTH - CONTENT))], axis=-1) + 2 * PLACES
    back = [content[:, SOURCES - k : LENGTH - k] for k in range(1, SOURCES + 1)]
    return tensor(tokens), tensor(np.concatenate(back, axis=-1))


def error_after_training(heads, seed):
    """Mean squared error on fresh examples: the variance of a content is 1."""
    rng = np.random.default_rng([seed, heads])
    model = Reporter(heads, rng).to(lesson.device)
    optimizer = optim.Adam(model.parameters())
    for step in range(STEPS):
        tokens, wanted = example(rng, 32)
        optimizer.lr = optim.warmup_cosine(step, 2e-2, 20, STEPS, final=0.02)
        optimizer.zero_grad()
        difference = model(tokens)[:, SOURCES:] - wanted
        loss = (difference * difference).mean()
        nn.check_finite(loss, step)
        loss.backward()
        optimizer.step()
    tokens, wanted = example(np.random.default_rng(seed), 500)
    with ta.no_grad():
        return float(np.mean((model(tokens).numpy()[:, SOURCES:] - wanted.numpy()) ** 2)), model


trained = {heads: [error_after_training(heads, seed) for seed in range(RUNS)] for heads in HEADS}
errors = np.array([[trained[heads][seed][0] for heads in HEADS] for seed in range(RUNS)])
bound = np.maximum(0, 1 - np.array(HEADS) / SOURCES)
for heads, found, least in zip(HEADS, errors.T, bound, strict=True):
    print(f"{heads} heads: error {np.median(found):.3f} of the variance, at best {least:.3f}")
lesson.verdict(
    f"to look at {SOURCES} places at once takes {SOURCES} heads",
    bool(np.all(errors[:, bound > 0] > bound[bound > 0] - 0.15) and np.all(errors[:, bound == 0] < 0.05)),
    "error " + ", ".join(f"{np.median(found):.2f} with {heads}" for heads, found in zip(HEADS, errors.T, strict=True)),
)

# %%
figure, (left, right) = plot.axes(2)
plot.theory(left, WIDTHS, theory, "theory, tokens themselves")
plot.theory(left, WIDTHS, np.full(len(WIDTHS), 1 / TOKENS), f"equal weights: 1/{TOKENS}", series=1)
plot.measured(left, WIDTHS, itself["tokens themselves"], label="tokens themselves", series=0)
plot.measured(left, WIDTHS, itself["projected"], label="projected", series=1)
plot.label(
    left,
    title=f"Unprojected, a token sees itself: weight {alone[-1]:.2f}",
    x="width d",
    y="weight on itself",
    log_x=2,
    legend="center right",
)
plot.theory(right, HEADS, bound, "at best: (3 − h)/3")
plot.measured(right, HEADS, errors, label=f"after {STEPS} steps", series=0)
plot.label(
    right,
    title=f"Three places need three heads: error {np.median(errors[:, HEADS.index(SOURCES)]):.2f}",
    x="number of heads h (same total width)",
    y="squared error / variance",
    ylim=(-0.03, 1),
    xticks=HEADS,
)
lesson.save(
    figure,
    {"heads": HEADS, "at_best": bound} | {f"error_seed{seed}": errors[seed] for seed in range(RUNS)},
)

# %% [markdown]
# ## What each head looks at
#
# The trained weights of one query: the last token. Each row is a head, each column a key. Nobody told the heads to
# share out the three places.

# %%
tokens, _ = example(np.random.default_rng(1), 1)
attention = min(trained[SOURCES], key=lambda run: run[0])[1].attention
query, key = (split_heads(projection(tokens), SOURCES) for projection in (attention.q_proj, attention.k_proj))
steps = ta.attention_steps(query, key, key, is_causal=True)
rows = steps.weights.numpy()[0, :, -1]
favourites = sorted(LENGTH - 1 - rows.argmax(axis=1))
print(f"the {SOURCES} heads look {', '.join(str(back) for back in favourites)} places back")

# %% [markdown]
# ## Dealing out the columns
#
# One matrix product makes the queries of all heads: (L, H·E). Head h shall get the columns h·E to (h + 1)·E − 1 of
# *every* token: (H, L, E). That takes a reshape to (L, H, E) and then a swap of the first two axes.
#
# A reshape straight to (H, L, E) has the right shape and the wrong content. It reads memory row by row: head 0 gets the
# first tokens, whole, and head 1 the others. What a head takes for different tokens are then pieces of one token.
# Merged in the right way, token 0 gets its second half from head 1, which has only seen later tokens: the causal mask
# counts rows, and the rows are not tokens any more.
#
# Predict: on which tokens does the output of token 0 depend, in either way?

# %%
L, H, E = 6, 2, 4


def by_reshape_alone(x):
    return ta.reshape(x, (H, L, E))


def dependence(split):
    """(L, L): how strongly output i depends on token j, over all columns: the norm of the derivative."""
    norms = np.zeros((L, L))
    for i in range(L):
        for column in range(H * E):
            x = tensor(np.random.default_rng(0).normal(size=(L, H * E)), requires_grad=True)
            heads = split(x)
            output = merge_heads(ta.scaled_dot_product_attention(heads, heads, heads, is_causal=True))
            output[i, column].backward()
            norms[i] += (ta.as_tensor(x.grad).numpy().astype(float) ** 2).sum(axis=1)
    return np.sqrt(norms)


right_way = dependence(lambda x: split_heads(x, H))
wrong_way = dependence(by_reshape_alone)
future = np.triu(np.ones((L, L), bool), 1)
missing = np.tril(wrong_way == 0)
lesson.verdict(
    "split by columns no token depends on a later one; split by reshape alone some do",
    not right_way[future].any() and wrong_way[future].any(),
    f"dependence on later tokens up to {right_way[future].max():.2g} and {wrong_way[future].max():.2g}; "
    f"reshape alone also cuts {missing.sum()} of {np.tril(np.ones((L, L))).sum():.0f} allowed pairs",
)

# %%
number = np.arange(L * H * E).reshape(L, H * E) // (H * E)  # of the token that an entry belongs to
figure, (first, second, third) = plot.axes(3, width=4.4, height=3.9)
plot.heatmap(first, rows, low=0, high=1)
plot.label(first, title=f"Heads look {', '.join(map(str, favourites))} places back", x="key", y="head", legend=None)
for ax, matrix, name in ((second, right_way, "By columns: no"), (third, wrong_way, "By reshape alone: a")):
    plot.heatmap(ax, matrix, low=0, high=max(right_way.max(), wrong_way.max()))
    plot.label(ax, title=f"{name} look ahead", x="token j", y="output of token i", legend=None)
lesson.save(
    figure,
    {
        "output": np.repeat(np.arange(L), L),
        "token": np.tile(np.arange(L), L),
        "by_columns": right_way.ravel(),
        "by_reshape_alone": wrong_way.ravel(),
    },
    suffix="_split",
)
print("tokens in head 0, by columns:       ", *np.unique(split_heads(number, H).numpy()[0]))
print("tokens in head 0, by reshape alone: ", *np.unique(number.reshape(H, L, E)[0]))

# %% [markdown]
# ## What to try
#
# * Give the reporter task four sources. How many heads does it take, and what is the best error with two?
# * Split right and merge by reshape alone. Which pairs of tokens are cut now?
# * Use one projection for both query and key. Is the weight of a token on itself near 1/n?
