"""What a small decoder is made of: modules with parameters, a loss, positions. Names as in `torch.nn`.

Parameters are Tensors with requires_grad, float32, drawn from the `rng` (seed or numpy Generator) of the constructor.
"""

import math
import os
import zipfile
from pathlib import Path

import numpy as np

from tinyattn.attention import dropout
from tinyattn.attention.multihead import KVCache, multi_head_attention
from tinyattn.attention.scoring import qk_norm
from tinyattn.attention.step2_scale import scale_factor
from tinyattn.backend import add_at, namespace, widen
from tinyattn.ops import matrix_product, relu, same, sigmoid, stable_peak, stack, take, tanh
from tinyattn.tensor import Tensor, as_tensor, no_grad, op

# --- functions -------------------------------------------------------------------------------------------------------


@op
def linear(x, weight, bias=None):  # (..., In), (Out, In), (Out,) or None -> (..., Out)
    """x weight^T + bias: one matrix product, however many leading axes there are."""
    if x.shape[-1:] != weight.shape[-1:]:
        raise ValueError(f"linear needs x (..., In) and weight (Out, In), got {x.shape} and {weight.shape}")
    rows = x.reshape(-1, x.shape[-1])
    y = matrix_product(rows, weight.T)
    if bias is not None:
        y += bias

    def flat(grad):
        return grad.reshape(-1, weight.shape[0])

    rules = (
        lambda grad: matrix_product(flat(grad), weight).reshape(x.shape),
        lambda grad: matrix_product(flat(grad).T, rows),
        lambda grad: widen(flat(grad)).sum(axis=0),
    )
    return y.reshape(*x.shape[:-1], weight.shape[0]), rules


@op
def layer_norm(x, weight, bias, *, eps=1e-5):  # (..., E), (E,), (E,) -> (..., E)
    """Each row with mean 0 and variance 1, then times weight plus bias (Ba, Kiros and Hinton, 2016)."""
    xp = namespace(x)
    wide = widen(x)
    centred = wide - xp.mean(wide, axis=-1, keepdims=True)
    inverse = 1 / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + eps)
    unit = centred * inverse

    def d_x(grad):
        grad = widen(grad) * weight
        along = xp.mean(grad * unit, axis=-1, keepdims=True)
        return (grad - xp.mean(grad, axis=-1, keepdims=True) - unit * along) * inverse

    y = (unit * weight + bias).astype(xp.result_type(x, weight, bias), copy=False)
    return y, (d_x, lambda grad: grad * unit, same)


@op
def rms_norm(x, weight, *, eps=1e-6):  # (..., E), (E,) -> (..., E)
    """Each row divided by its root mean square, then times weight (Zhang and Sennrich, 2019)."""
    xp = namespace(x)
    wide = widen(x)
    inverse = 1 / xp.sqrt(xp.mean(wide * wide, axis=-1, keepdims=True) + eps)
    unit = wide * inverse

    def d_x(grad):
        grad = widen(grad) * weight
        return (grad - unit * xp.mean(grad * unit, axis=-1, keepdims=True)) * inverse

    return (unit * weight).astype(xp.result_type(x, weight), copy=False), (d_x, lambda grad: grad * unit)


def cross_entropy(logits, targets, ignore_index=-100):
    """Mean negative log-probability, in nats, of the targets: (..., C), integers (...) -> (). Targets of ignore_index
    do not count; if none counts the loss is 0. ValueError for a target outside 0..C-1."""
    targets = np.asarray(targets.numpy() if isinstance(targets, Tensor) else targets)
    logits = as_tensor(logits)
    if targets.dtype.kind not in "iu":
        raise TypeError(f"cross_entropy needs integer targets, got dtype {targets.dtype}")
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"cross_entropy needs logits (..., C) and targets (...), got {logits.shape} and {targets.shape}"
        )
    counted = targets != ignore_index
    wrong = targets[counted & ((targets < 0) | (targets >= logits.shape[-1]))]
    if wrong.size:
        raise ValueError(f"cross_entropy needs targets from 0 to {logits.shape[-1] - 1}, got {wrong[0]}")
    return _cross_entropy(logits, targets=np.where(counted, targets, 0), counted=counted)


@op
def _cross_entropy(logits, *, targets, counted):
    xp = namespace(logits)
    classes = logits.shape[-1]
    rows, targets = widen(logits).reshape(-1, classes), xp.asarray(targets).reshape(-1, 1)
    weight = xp.asarray(counted.reshape(-1, 1) / max(1, counted.sum())).astype(rows.dtype)
    shifted = rows - stable_peak(rows, -1)
    powers = xp.exp(shifted)
    total = xp.sum(powers, axis=-1, keepdims=True)
    losses = xp.log(total) - xp.take_along_axis(shifted, targets, axis=-1)

    def vjp(grad):
        d_rows = powers / total
        add_at(d_rows, (xp.arange(len(rows)), targets[:, 0]), -1)
        return ((grad * weight * d_rows).reshape(logits.shape),)

    # a loss that does not count may be infinite
    return xp.sum(xp.where(weight > 0, losses, 0) * weight).astype(logits.dtype), vjp


def sinusoidal_positions(length, width, base=10000.0):
    """(length, width) float32: sin and cos of position / base^(2i/width) in columns 2i, 2i+1 (Vaswani et al., 3.5)."""
    angles = _angles(np.arange(length), width, base)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width).astype(np.float32)


def _angles(positions, width, base):
    if width % 2:
        raise ValueError(f"positions need an even width, got {width}")
    return np.asarray(positions)[..., None] * float(base) ** (-np.arange(0, width, 2) / width)


def rotary(x, positions=None, base=10000.0):
    """x (..., L, E) with each pair of columns (2i, 2i+1) turned by position * base^(-2i/E), so that the product of a
    query and a key depends on their distance alone. positions (L,) is 0..L-1 by default. Su et al., 2021."""
    x = as_tensor(x)
    positions = np.arange(x.shape[-2]) if positions is None else np.asarray(positions)
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(
            f"rotary needs one position for each token of x (..., L, E), got {positions.shape} and {x.shape}"
        )
    return _turn(x, angles=_angles(positions, x.shape[-1], base))


@op
def _turn(x, *, angles):
    xp = namespace(x)
    cos, sin = (xp.asarray(f(angles), dtype=x.dtype) for f in (np.cos, np.sin))

    def turned(pairs, sin):
        even, odd = pairs[..., 0::2], pairs[..., 1::2]
        return xp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(pairs.shape)

    return turned(x, sin), lambda grad: (turned(grad, -sin),)


# --- modules ---------------------------------------------------------------------------------------------------------


class Module:
    """Something with parameters: the Tensors with requires_grad among its attributes and those of modules within it."""

    training = True

    def __call__(self, *args, **options):
        return self.forward(*args, **options)

    def forward(self, *args, **options):
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def modules(self, prefix=""):
        """(name, module) of this module and all within it, in the order in which they were set."""
        yield prefix.removesuffix("."), self
        for name, child in vars(self).items():
            for key, module in enumerate(child) if isinstance(child, list) else [("", child)]:
                if isinstance(module, Module):
                    yield from module.modules(
                        f"{prefix}{name}.{key}." if isinstance(child, list) else f"{prefix}{name}."
                    )

    def named_parameters(self):
        for name, module in self.modules():
            for key, x in vars(module).items():
                if isinstance(x, Tensor) and x.requires_grad:
                    yield f"{name}.{key}" if name else key, x

    def parameters(self):
        return [x for _, x in self.named_parameters()]

    def train(self, training=True):
        """Switches dropout on, `eval` off; returns self."""
        for _, module in self.modules():
            module.training = training
        return self

    def eval(self):
        return self.train(False)

    def to(self, device):
        """Moves every parameter; returns self."""
        for x in self.parameters():
            moved = x.detach().to(device)
            x.data, x.device, x.grad = moved.data, device, None
        return self

    def state_dict(self):
        """{name: NumPy array}, copies of all parameters."""
        return {name: np.array(x.numpy()) for name, x in self.named_parameters()}

    def load_state_dict(self, state):
        """Takes the parameters from {name: array}; ValueError lists all differences in names and shapes."""
        own = dict(self.named_parameters())
        differences = [f"missing {name} {x.shape}" for name, x in own.items() if name not in state]
        differences += [f"unknown {name} {np.shape(state[name])}" for name in state if name not in own]
        differences += [
            f"{name} is {np.shape(state[name])}, expected {x.shape}"
            for name, x in own.items()
            if name in state and np.shape(state[name]) != x.shape
        ]
        if differences:
            raise ValueError("the state does not fit this module: " + "; ".join(differences))
        for name, x in own.items():
            x.data[...] = namespace(x.data).asarray(state[name])


def save(path, state):
    """Writes {name: array} as an .npz file, whole or not at all."""
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as file:
            np.savez(file, **state)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(path):
    """{name: array} from an .npz file; never unpickles. ValueError if it is not such a file."""
    with Path(path).open("rb") as file:  # ours to close: np.load leaves a broken archive open
        try:
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        except (ValueError, AttributeError, TypeError, EOFError, OSError, zipfile.BadZipFile):
            raise ValueError(f"{path} is not an .npz file of plain arrays") from None


def _parameter(array, dtype=np.float32):
    return Tensor(array, requires_grad=True, dtype=dtype)


def _rng(rng):
    return np.random.default_rng(rng)


class Linear(Module):
    """x weight^T + bias, (..., In) -> (..., Out); both drawn from U(-1/sqrt(In), 1/sqrt(In))."""

    def __init__(self, in_features, out_features, bias=True, rng=None):
        rng, bound = _rng(rng), 1 / math.sqrt(in_features)
        self.weight = _parameter(rng.uniform(-bound, bound, (out_features, in_features)))
        self.bias = _parameter(rng.uniform(-bound, bound, out_features)) if bias else None

    def forward(self, x):
        return linear(x, self.weight, self.bias)


class Embedding(Module):
    """A row of `weight` (N, E) for each integer: (...) -> (..., E); entries drawn from a normal distribution."""

    def __init__(self, num_embeddings, embedding_dim, rng=None):
        self.weight = _parameter(_rng(rng).normal(size=(num_embeddings, embedding_dim)))

    def forward(self, ids):
        ids = np.asarray(ids.numpy() if isinstance(ids, Tensor) else ids)
        n = self.weight.shape[0]
        if ids.dtype.kind in "iu" and ids.size and not 0 <= ids.min() <= ids.max() < n:
            raise ValueError(f"embedding of {n} rows needs ids from 0 to {n - 1}, got {ids.min()} to {ids.max()}")
        return take(self.weight, ids)


class LayerNorm(Module):
    def __init__(self, width, eps=1e-5):
        self.weight, self.bias, self.eps = _parameter(np.ones(width)), _parameter(np.zeros(width)), eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, eps=self.eps)


class RMSNorm(Module):
    def __init__(self, width, eps=1e-6):
        self.weight, self.eps = _parameter(np.ones(width)), eps

    def forward(self, x):
        return rms_norm(x, self.weight, eps=self.eps)


class Dropout(Module):
    """Zeroes entries with probability p in training and divides the rest by 1 - p; the identity after `eval()`."""

    def __init__(self, p=0.5, rng=None):
        self.p, self.rng = p, _rng(rng)

    def forward(self, x):
        return dropout(x, p=self.p, seed=int(self.rng.integers(2**63))) if self.training and self.p else x


class GRUCell(Module):
    """One step of a gated recurrent unit: x (..., In), state (..., H) -> the next state (..., H).

    As `torch.nn.GRUCell`, after Cho et al., 2014: weights stacked in the order reset, update, candidate, and the reset
    gate inside the candidate's product.
    """

    def __init__(self, input_size, hidden_size, rng=None):
        rng, bound = _rng(rng), 1 / math.sqrt(hidden_size)

        def draw(*shape):
            return _parameter(rng.uniform(-bound, bound, shape))

        self.hidden_size = hidden_size
        self.weight_ih, self.weight_hh = draw(3 * hidden_size, input_size), draw(3 * hidden_size, hidden_size)
        self.bias_ih, self.bias_hh = draw(3 * hidden_size), draw(3 * hidden_size)

    def forward(self, x, state):
        H = self.hidden_size
        from_x, from_state = linear(x, self.weight_ih, self.bias_ih), linear(state, self.weight_hh, self.bias_hh)
        gates = sigmoid(from_x[..., : 2 * H] + from_state[..., : 2 * H])
        reset, update = gates[..., :H], gates[..., H:]
        candidate = tanh(from_x[..., 2 * H :] + reset * from_state[..., 2 * H :])
        return candidate + update * (state - candidate)


class GRU(Module):
    """The cell over a sequence: (..., L, In) -> (..., L, H), starting from a state of zeros."""

    def __init__(self, input_size, hidden_size, rng=None):
        self.cell = GRUCell(input_size, hidden_size, rng)

    def forward(self, x):
        x = as_tensor(x)
        state = Tensor(np.zeros((*x.shape[:-2], self.cell.hidden_size)), dtype=x.dtype, device=x.device)
        states = []
        for t in range(x.shape[-2]):
            state = self.cell(x[..., t, :], state)
            states.append(state)
        return stack(states, axis=-2)


class MultiHeadAttention(Module):
    """Three projections, heads, attention, and the projection back: (..., L, E) -> (..., L, E).

    Self-attention when called with one tensor, cross-attention with (query, key, value). num_kv_heads groups the heads.
    scale is that of `scaled_dot_product_attention`, None for 1/sqrt(E/H). qk_norm ('l2' or 'rms') normalises query and
    key per head and learns a temperature for each head. rotary turns query and key by their positions.
    """

    def __init__(
        self, embed_dim, num_heads, num_kv_heads=None, *,
        bias=True, dropout=0.0, scale=None, qk_norm=None, rotary=False, rng=None,
    ):  # fmt: skip
        if embed_dim % num_heads or num_heads % (num_kv_heads or num_heads):
            raise ValueError(
                "embed_dim must be a multiple of num_heads and num_heads of num_kv_heads, "
                f"got {embed_dim}, {num_heads} and {num_kv_heads}"
            )
        rng = _rng(rng)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads or num_heads
        head_dim = embed_dim // num_heads
        kv_dim = self.num_kv_heads * head_dim
        self.q_proj, self.k_proj = Linear(embed_dim, embed_dim, bias, rng), Linear(embed_dim, kv_dim, bias, rng)
        self.v_proj, self.out_proj = Linear(embed_dim, kv_dim, bias, rng), Linear(embed_dim, embed_dim, bias, rng)
        self.dropout, self.rotary, self.qk_norm, self.rng = dropout, rotary, qk_norm, rng
        self.scale = scale_factor(scale, head_dim) if qk_norm != "l2" else 1.0
        if qk_norm:
            self.temperature = _parameter(np.full((num_heads, 1, 1), math.sqrt(head_dim) if qk_norm == "l2" else 1.0))

    def forward(self, query, key=None, value=None, attn_mask=None, is_causal=False, *, cache=None):
        key = query if key is None else key
        value = key if value is None else value
        return self.out_proj(
            multi_head_attention(
                self.q_proj(query), self.k_proj(key), self.v_proj(value), self.num_heads, self.num_kv_heads,
                prepare=self._prepare, cache=cache, attn_mask=attn_mask, is_causal=is_causal, scale=self.scale,
                dropout_p=self.dropout if self.training else 0.0, rng=self.rng,
            )
        )  # fmt: skip

    def _prepare(self, query, key, start):
        """Query and key of all heads before they meet: normalised, then turned by position."""
        if self.qk_norm:
            query, key = qk_norm(query, key, self.temperature, norm=self.qk_norm)
        if self.rotary:
            query = rotary(query, np.arange(start, start + query.shape[-2]))
            key = rotary(key, np.arange(start, start + key.shape[-2]))
        return query, key


class DecoderBlock(Module):
    """x + attention(norm(x)), then x + mlp(norm(x)): the pre-norm block of Radford et al., 2019, with relu."""

    def __init__(self, embed_dim, num_heads, rng=None, **options):
        rng = _rng(rng)
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads, rng=rng, **options)
        self.up, self.down = Linear(embed_dim, 4 * embed_dim, rng=rng), Linear(4 * embed_dim, embed_dim, rng=rng)

    def forward(self, x, is_causal=True, cache=None):
        x = x + self.attention(self.norm1(x), is_causal=is_causal, cache=cache)
        return x + self.down(relu(self.up(self.norm2(x))))


class TransformerDecoder(Module):
    """A decoder-only language model: token ids (..., L) -> logits (..., L, vocabulary).

    positions is 'learned', 'sinusoidal' or 'rotary'. Further options (scale, num_kv_heads, qk_norm, dropout) go to
    every `MultiHeadAttention`. is_causal=False leaves the mask out, which lets the model read what it should predict.
    """

    def __init__(
        self, vocabulary, embed_dim, num_heads, num_layers, max_length, *,
        positions="learned", is_causal=True, rng=None, **options,
    ):  # fmt: skip
        if positions not in ("learned", "sinusoidal", "rotary"):
            raise ValueError(f"positions must be 'learned', 'sinusoidal' or 'rotary', got {positions!r}")
        rng = _rng(rng)
        self.max_length, self.is_causal = max_length, is_causal
        self.tokens = Embedding(vocabulary, embed_dim, rng)
        self.tokens.weight.data *= np.float32(0.1)
        if positions == "learned":
            self.positions = _parameter(rng.normal(size=(max_length, embed_dim)) * 0.1)
        elif positions == "sinusoidal":
            self.positions = as_tensor(sinusoidal_positions(max_length, embed_dim))
        else:
            self.positions, options["rotary"] = None, True
        self.blocks = [DecoderBlock(embed_dim, num_heads, rng, **options) for _ in range(num_layers)]
        self.norm, self.head = LayerNorm(embed_dim), Linear(embed_dim, vocabulary, rng=rng)

    def forward(self, ids, caches=None):
        """caches, one KVCache for each block, hold the tokens before ids; the logits are then those of ids alone."""
        ids = np.asarray(ids)
        start = len(caches[0]) if caches else 0
        end = start + ids.shape[-1]
        if end > self.max_length:
            raise ValueError(f"this decoder takes at most {self.max_length} tokens, got {end}")
        x = self.tokens(ids)
        if self.positions is not None:
            x = x + self.positions[start:end]
        for i, block in enumerate(self.blocks):
            x = block(x, self.is_causal, caches[i] if caches else None)
        return self.head(self.norm(x))

    @no_grad()
    def generate(self, ids, count, temperature=1.0, rng=None):
        """ids, a list, and `count` more, each drawn from softmax(logits / temperature); 0 takes the likeliest."""
        rng, ids = _rng(rng), list(ids)
        if not ids or len(ids) + count > self.max_length + 1:
            raise ValueError(f"generate needs 1 to {self.max_length + 1 - count} ids to start from, got {len(ids)}")
        caches = [KVCache() for _ in self.blocks]
        fresh = ids
        for _ in range(count):
            logits = self.forward(np.array([fresh]), caches).numpy()[0, -1].astype(np.float64)
            if temperature:  # the Gumbel trick draws from the softmax
                logits = logits / temperature + rng.gumbel(size=logits.shape)
            fresh = [int(logits.argmax())]
            ids += fresh
        return ids


def check_finite(loss, step):
    """FloatingPointError if loss is not finite: the step, the first tensor that was not and the op that made it."""
    if np.isfinite(loss.numpy()).all():
        return
    seen, stack = {loss}, [loss]
    while stack:
        for x in stack.pop()._inputs:
            if x is not None and x not in seen:
                seen.add(x)
                stack.append(x)
    bad = min((x for x in seen if not np.isfinite(x.numpy()).all()), key=lambda x: x._order)
    where = f"the output of {bad._op}" if bad._op else "a parameter"
    raise FloatingPointError(
        f"step {step}: the loss is {loss.item()}; the first tensor not finite is {where}, {bad.shape}"
    )
