"""The table of ops: what each is called with, and what NumPy alone gives for it. Needs no pytest, so that a GPU can be
checked by it where nothing else is installed."""

from typing import NamedTuple

import numpy as np

import tinyattn
from tinyattn import nn, ops
from tinyattn.attention import step3_softmax, tiled
from tinyattn.attention.dropout import keep_mask

RNG = np.random.default_rng(1)
KEEP = RNG.random((3, 5)) < 0.6
KEEP[1] = False
INDEX = np.array([[3, 0], [3, 3]])


class Row(NamedTuple):
    function: object  # of the tinyattn function under test
    call: object  # tensors -> Tensor
    expected: object  # the same arrays -> array, by NumPy
    inputs: tuple  # shapes to draw from the normal distribution, or arrays
    note: str = ""


def positive(*shape):
    return np.abs(RNG.normal(size=shape)) + 0.5


def beside(tensor, array):
    """The array where the tensor is."""
    return tinyattn.as_tensor(array, device=tensor.device)


def by_rows(function):
    """function of 1-D rows, applied along the last axis."""
    return lambda x: np.apply_along_axis(function, -1, x)


def weights_of(row):
    """softmax of one row."""
    return np.exp(row) / np.exp(row).sum()


def masked_weights(scores, keep):
    """softmax along the last axis over what is kept; rows that keep nothing are 0."""
    powers = np.exp(scores) * keep
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)


def dropped(weights, p, seed):
    return weights * keep_mask(weights.shape, p, seed) / (1 - p)


def turned(x, angles):
    """Pairs of neighbours as complex numbers, turned."""
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([z.real, z.imag], -1).reshape(x.shape)


ANGLES = RNG.normal(size=(5, 3))
TARGETS, COUNTED = np.array([2, 0, 3]), np.array([True, False, True])

TABLE = [
    Row(ops.add, lambda a, b: a + b, np.add, ((3, 4), (4,))),
    Row(ops.add, lambda a: 2.5 + a, lambda a: 2.5 + a, ((3,),), "number"),
    Row(ops.subtract, lambda a, b: a - b, np.subtract, ((3, 1), (2, 3, 4))),
    Row(ops.subtract, lambda a: 2 - a, lambda a: 2 - a, ((3,),), "number"),
    Row(ops.multiply, lambda a, b: a * b, np.multiply, ((4, 1), (1, 3))),
    Row(ops.multiply, lambda a: a * a * a, lambda a: a**3, ((2, 3),), "shared"),
    Row(ops.divide, lambda a, b: a / b, np.divide, ((2, 3, 4), positive(3, 1))),
    Row(ops.divide, lambda b: 3 / b, lambda b: 3 / b, (positive(4),), "number"),
    Row(ops.negative, lambda a: -a, np.negative, ((2, 3),)),
    Row(ops.power, lambda a, b: a**b, np.power, (positive(2, 3), (3,))),
    Row(ops.power, lambda a: a**3, lambda a: a**3, ((2, 3),), "cube"),
    Row(ops.power, lambda a: a**-2, lambda a: a**-2.0, (positive(2, 3),), "inverse square"),
    Row(ops.power, lambda b: 3**b, lambda b: 3**b, ((2, 3),), "number below"),
    Row(ops.exp, ops.exp, np.exp, ((2, 3),)),
    Row(ops.log, ops.log, np.log, (positive(2, 3),)),
    Row(ops.sqrt, ops.sqrt, np.sqrt, (positive(2, 3),)),
    Row(ops.tanh, ops.tanh, np.tanh, ((2, 3),)),
    Row(ops.sigmoid, ops.sigmoid, lambda x: 1 / (1 + np.exp(-x)), ((2, 3),)),
    Row(ops.relu, ops.relu, lambda x: x * (x > 0), ((3, 4),)),
    Row(ops.abs, ops.abs, np.abs, ((3, 4),)),
    Row(ops.abs, lambda x: abs(x), np.abs, ((3, 4),), "built-in"),
    Row(ops.where, lambda a, b: ops.where(beside(a, KEEP), a, b), lambda a, b: np.where(KEEP, a, b), ((3, 1), (5,))),
    Row(ops.where, lambda a: ops.where(beside(a, KEEP), a, 0.5), lambda a: np.where(KEEP, a, 0.5), ((3, 5),), "number"),
    Row(ops.maximum, ops.maximum, np.maximum, ((3, 4), (4,))),
    Row(ops.maximum, lambda a: ops.maximum(a, 0.1), lambda a: np.maximum(a, 0.1), ((3, 4),), "number"),
    Row(ops.minimum, ops.minimum, np.minimum, ((3, 1), (4,))),
    Row(ops.clip, lambda x: ops.clip(x, -0.5, 0.7), lambda x: np.clip(x, -0.5, 0.7), ((3, 4),)),
    Row(ops.clip, lambda x: x.clip(max=0.2), lambda x: np.minimum(x, 0.2), ((3, 4),), "above only"),
    Row(ops._astype, lambda x: ops._astype(x, dtype=x.dtype), lambda x: x, ((3, 4),)),
    Row(ops.sum, ops.sum, lambda x: x.sum(), ((3, 4),)),
    Row(ops.sum, lambda x: x.sum(axis=1), lambda x: x.sum(1), ((2, 3, 4),), "axis"),
    Row(
        ops.sum,
        lambda x: x.sum(axis=(0, -1), keepdims=True),
        lambda x: x.sum((0, 2), keepdims=True),
        ((2, 3, 4),),
        "axes",
    ),
    Row(ops.mean, ops.mean, lambda x: x.mean(), ((3, 4),)),
    Row(ops.mean, lambda x: x.mean(axis=(0, 2)), lambda x: x.mean((0, 2)), ((2, 3, 4),), "axes"),
    Row(ops.var, ops.var, lambda x: x.var(), ((3, 4),)),
    Row(ops.var, lambda x: x.var(axis=-1, correction=1), lambda x: x.var(-1, ddof=1), ((3, 4),), "unbiased"),
    Row(ops.max, ops.max, lambda x: x.max(), ((3, 4),)),
    Row(ops.max, lambda x: x.max(axis=0), lambda x: x.max(0), ((3, 4),), "axis"),
    Row(ops.min, lambda x: x.min(axis=(0, 2), keepdims=True), lambda x: x.min((0, 2), keepdims=True), ((2, 3, 4),)),
    Row(ops.argmax, lambda x: ops.argmax(x, axis=-1) * 1.0, lambda x: np.argmax(x, -1) * 1.0, ((3, 4),)),
    Row(ops.logsumexp, ops.logsumexp, by_rows(lambda r: np.log(np.exp(r).sum())), ((2, 3, 4),)),
    Row(ops.logsumexp, lambda x: ops.logsumexp(x, 0), lambda x: np.log(np.exp(x).sum(0)), ((3, 4),), "axis"),
    Row(ops.log_softmax, ops.log_softmax, by_rows(lambda r: np.log(weights_of(r))), ((2, 3, 4),)),
    Row(
        ops.log_softmax, lambda x: ops.log_softmax(x, axis=0), lambda x: x - np.log(np.exp(x).sum(0)), ((3, 4),), "axis"
    ),
    Row(ops.matmul, lambda a, b: a @ b, np.matmul, ((2, 3), (3, 4))),
    Row(ops.matmul, lambda a, b: a @ b, np.matmul, ((3,), (3,)), "vector vector"),
    Row(ops.matmul, lambda a, b: a @ b, np.matmul, ((3,), (2, 3, 4)), "vector matrices"),
    Row(ops.matmul, lambda a, b: a @ b, np.matmul, ((2, 5, 3), (3,)), "matrices vector"),
    Row(ops.matmul, lambda a, b: a @ b, np.matmul, ((2, 1, 4, 3), (5, 3, 2)), "batches"),
    Row(ops._reshape, lambda x: ops._reshape(x, shape=(4, -1)), lambda x: x.reshape(4, -1), ((2, 3, 4),)),
    Row(ops.reshape, lambda x: x.reshape(6, 4), lambda x: x.reshape(6, 4), ((2, 3, 4),)),
    Row(ops.permute_dims, lambda x: ops.permute_dims(x, axes=(1, -1, 0)), lambda x: x.transpose(1, 2, 0), ((2, 3, 4),)),
    Row(ops.permute_dims, lambda x: x.T, np.transpose, ((2, 3, 4),), "reversed"),
    Row(ops.swapaxes, lambda x: x.swapaxes(0, -1), lambda x: x.swapaxes(0, -1), ((2, 3, 4),)),
    Row(ops.swapaxes, lambda x: x.mT, lambda x: x.swapaxes(-1, -2), ((2, 3, 4),), "default"),
    Row(ops.expand_dims, lambda x: ops.expand_dims(x, axis=1), lambda x: x[:, None], ((2, 3),)),
    Row(ops.squeeze, ops.squeeze, np.squeeze, ((1, 2, 1, 3),)),
    Row(ops.squeeze, lambda x: x.squeeze(2), lambda x: x.squeeze(2), ((1, 2, 1, 3),), "axis"),
    Row(ops.broadcast_to, lambda x: ops.broadcast_to(x, (4, 3, 2)), lambda x: np.broadcast_to(x, (4, 3, 2)), ((3, 1),)),
    Row(ops._concat, lambda a, b: ops._concat(a, b, axis=1), lambda a, b: np.concatenate([a, b], 1), ((2, 3), (2, 4))),
    Row(
        ops.concat,
        lambda a, b, c: ops.concat([a, b, c], axis=-2),
        lambda *xs: np.concatenate(xs, -2),
        ((2, 1, 3), (2, 4, 3), (2, 2, 3)),
    ),
    Row(ops.concat, lambda a: ops.concat([a, a * 2, a]), lambda a: np.concatenate([a, a * 2, a]), ((2, 3),), "shared"),
    Row(ops.stack, lambda a, b: ops.stack([a, b], axis=-1), lambda a, b: np.stack([a, b], -1), ((2, 3), (2, 3))),
    Row(ops.getitem, lambda x: x[1], lambda x: x[1], ((3, 4),), "integer"),
    Row(ops.getitem, lambda x: x[::-2, None, ..., 1:], lambda x: x[::-2, None, ..., 1:], ((4, 2, 3),), "slices"),
    Row(ops.getitem, lambda x: x[INDEX], lambda x: x[INDEX], ((4, 2),), "repeated"),
    Row(ops.getitem, lambda x: x[:, [0, 2, 0]], lambda x: x[:, [0, 2, 0]], ((2, 3),), "list"),
    Row(ops.getitem, lambda x: x[KEEP], lambda x: x[KEEP], ((3, 5),), "boolean"),
    Row(ops.getitem, lambda x: x[..., INDEX, 1], lambda x: x[..., INDEX, 1], ((2, 4, 3),), "mixed"),
    Row(ops.take, lambda x: ops.take(x, INDEX, axis=1), lambda x: np.take(x, INDEX, axis=1), ((2, 4, 3),)),
    Row(ops.normalize, ops.normalize, lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)), ((2, 3, 4),)),
    Row(tinyattn.scores, tinyattn.scores, lambda q, k: q @ k.swapaxes(-1, -2), ((2, 1, 3, 4), (5, 6, 4))),
    Row(tinyattn.scale, lambda s: tinyattn.scale(s, factor=0.3), lambda s: 0.3 * s, ((2, 3),)),
    Row(
        tinyattn.mask,
        lambda s: tinyattn.mask(s, beside(s, KEEP)).exp(),
        lambda s: np.exp(s) * KEEP,
        ((2, 3, 5),),
        "boolean",
    ),
    Row(tinyattn.mask, tinyattn.mask, np.add, ((2, 3, 5), (3, 1)), "additive"),
    Row(tinyattn.softmax, tinyattn.softmax, by_rows(weights_of), ((2, 3, 5),)),
    Row(
        tinyattn.softmax, lambda s: tinyattn.softmax(s, axis=0), lambda s: by_rows(weights_of)(s.T).T, ((3, 4),), "axis"
    ),
    Row(
        step3_softmax.fused_softmax,
        lambda s, b: step3_softmax.fused_softmax(s, b, keep=beside(s, KEEP).data, factor=0.7),
        lambda s, b: masked_weights(0.7 * s + b, KEEP),
        ((2, 3, 5), (5,)),
    ),
    Row(
        step3_softmax.fused_softmax,
        lambda s: step3_softmax.fused_softmax(s, None, factor=0.7),
        lambda s: by_rows(weights_of)(0.7 * s),
        ((2, 3, 5),),
        "no mask",
    ),
    Row(tinyattn.weighted_sum, tinyattn.weighted_sum, np.matmul, ((2, 3, 4), (4, 5))),
    Row(
        tinyattn.dropout,
        lambda w: tinyattn.dropout(w, p=0.4, seed=3),
        lambda w: dropped(w, 0.4, 3),
        ((2, 3, 5),),
    ),
    Row(
        tinyattn.entropy, tinyattn.entropy, by_rows(lambda r: -(weights_of(r) * np.log(weights_of(r))).sum()), ((3, 4),)
    ),
    Row(
        tiled.tiled_attention,
        lambda q, k, v, b: tiled.tiled_attention(q, k, v, b, attn_mask=beside(q, KEEP).data, factor=0.6),
        lambda q, k, v, b: masked_weights(0.6 * q @ k.swapaxes(-1, -2) + b, KEEP) @ v,
        ((2, 1, 3, 4), (2, 5, 4), (5, 6), (3, 1)),
    ),
    Row(nn.linear, nn.linear, lambda x, w, b: x @ w.T + b, ((2, 3, 4), (5, 4), (5,))),
    Row(nn.linear, lambda x, w: nn.linear(x, w, None), lambda x, w: x @ w.T, ((3, 4), (5, 4)), "no bias"),
    Row(
        nn.layer_norm,
        lambda x, w, b: nn.layer_norm(x, w, b, eps=1e-3),
        lambda x, w, b: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-3) * w + b,
        ((2, 3, 4), (4,), (4,)),
    ),
    Row(
        nn.rms_norm,
        lambda x, w: nn.rms_norm(x, w, eps=1e-3),
        lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * w,
        ((2, 3, 4), (4,)),
    ),
    Row(
        nn._cross_entropy,
        lambda x: nn._cross_entropy(x, targets=TARGETS, counted=COUNTED),
        lambda x: -sum(np.log(weights_of(x[i]))[TARGETS[i]] for i in (0, 2)) / 2,
        ((3, 4),),
    ),
    Row(nn._turn, lambda x: nn._turn(x, angles=ANGLES), lambda x: turned(x, ANGLES), ((2, 5, 6),)),
]
