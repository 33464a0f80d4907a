"""The kernels of tiled attention against float64, within the error budget of tiled.cu, in every order of threads."""

import functools
from pathlib import Path

import numpy as np
import pytest

from tinyattn import kernels
from tinyattn.attention import tiled
from tinyattn.attention.blocks import band_of
from tinyattn.backend import to_device
from tinyattn.tensor import Tensor

SOURCE = Path(tiled.__file__).with_suffix(".cu")
NAMES = ("output", "query", "key", "value")


@pytest.fixture
def run_with(device, monkeypatch):
    """Makes the op launch its kernels with these options of the emulator."""

    def choose(**options):
        if device == "emulated":
            load = functools.cache(lambda name, device: kernels.load(SOURCE, device, **options).get_function(name))
            monkeypatch.setattr(tiled, "_kernel", load)

    return choose


def options_for(device):
    """Every way in which the emulator can run a launch; a GPU has one."""
    checked = [{"checked": True, "order": order, "seed": 3} for order in ("forward", "reverse", "random")]
    return [{}, *checked] if device == "emulated" else [{}]


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def by_kernel(device, arrays, upstream, **settings):
    leaves = [Tensor(x, requires_grad=True, device=device) for x in arrays]
    output = tiled.tiled_attention(*leaves, None, **settings)
    output.backward(to_device(upstream, device))
    return [output.numpy(), *(to_device(leaf.grad, "cpu") for leaf in leaves)]


def exact_and_budget(query, key, value, grad, keep, factor, rounding):
    """Output and gradients in float64, and by how much each of their numbers may be off; key and value (S, E), (S, Ev).

    Weights are off by a relative w, dP and its mean by e; both as tiled.cu says. Sums over keys or queries add
    u for each. rounding: 2^-11 for float16, which is also that of the output from which the mean comes.
    """
    query, key, value, grad = (x.astype(float) for x in (query, key, value, grad))
    u, (L, E), (S, Ev) = 2.0**-24, query.shape[-2:], value.shape
    scores = np.where(keep, query @ key.T * factor, -np.inf)
    peak = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(peak), peak, 0))
    total = weights.sum(-1, keepdims=True)
    weights /= np.where(total == 0, 1, total)
    output = weights @ value
    d_weights = grad @ value.T
    slopes = weights * (d_weights - (weights * d_weights).sum(-1, keepdims=True))
    exact = [output, factor * slopes @ key, factor * np.einsum("tls,tle->se", slopes, query)]
    exact.append(np.einsum("tls,tle->se", weights, grad))

    w = u * (2 * (E + 4) * (np.abs(query) @ np.abs(key).T).max() * abs(factor) + 2.2 * S + 8)
    parts = (np.abs(grad) @ np.abs(value).T).max()
    e = (2 * u * (Ev + 2) + w + rounding) * parts
    off = weights * (2 * w * parts + e)  # of the slopes; a float16's subnormals lie 2^-24 apart
    budget = [
        w * weights @ np.abs(value),
        abs(factor) * (off + 2 * u * S * np.abs(slopes)) @ np.abs(key),
        abs(factor) * np.einsum("tls,tle->se", off + u * L * np.abs(slopes) * len(query), np.abs(query)),
        np.einsum("tls,tle->se", (w + u * L * len(query)) * weights, np.abs(grad)),
    ]
    return exact, [
        b + rounding * np.abs(x) + (2.0**-24 if rounding else 1e-30) for b, x in zip(budget, exact, strict=True)
    ]


# Lengths around the tiles of 32 and 64, widths around 64 and 128, every kind of diagonal
CASES = {
    "one key": ((1, 1), (1, 1), {}),
    "less than a tile": ((5, 7), (4, 6), {"is_causal": True}),
    "whole tiles": ((64, 64), (64, 64), {}),
    "one more": ((65, 33), (65, 63), {"is_causal": True}),
    "one less": ((63, 95), (63, 65), {"is_causal": True, "offset": 32}),
    "wide": ((70, 40), (128, 128), {"is_causal": True}),
    "narrow values": ((33, 66), (72, 3), {}),
    "window": ((100, 90), (33, 20), {"window": (9, 3)}),
    "band beside the table": ((40, 40), (8, 8), {"window": (3, 3), "offset": 60}),
    "rows that see nothing": ((90, 20), (16, 12), {"is_causal": True, "offset": -70}),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("case", CASES)
def test_forward_and_backward_in_every_order(device, run_with, case, dtype):
    (L, S), (E, Ev), settings = CASES[case]
    factor = 1.3 * E**-0.5
    query, grad = normal(2, L, E, dtype=dtype), normal(2, L, Ev, dtype=dtype, seed=3)
    key, value = normal(S, E, dtype=dtype, seed=1), normal(S, Ev, dtype=dtype, seed=2)
    low, high = band_of(
        settings.get("is_causal"), settings.get("window", (None, None)), settings.get("offset", 0), L, S
    )
    distance = np.arange(S) - np.arange(L)[:, None]
    keep = (low <= distance) & (distance <= high)
    rounding = 2.0**-11 if dtype == np.float16 else 0.0
    exact, budget = exact_and_budget(query, key, value, grad, keep, factor, rounding)
    results = []
    for options in options_for(device):
        run_with(**options)
        results.append(by_kernel(device, (query, key[None], value[None]), grad, factor=factor, **settings))
        for name, x, y, limit in zip(NAMES, results[-1], exact, budget, strict=True):
            assert x.dtype == dtype
            assert (np.abs(x.reshape(y.shape) - y) <= limit).all(), f"{name} with {options}"
    unseen = ~keep.any(-1)
    assert (results[0][0][:, unseen] == 0).all()
    assert (results[0][1][:, unseen] == 0).all()
    for other in results[2:]:
        assert [x.tobytes() for x in other] == [x.tobytes() for x in results[1]]


@pytest.mark.parametrize(
    ("q_lead", "k_lead", "v_lead"),
    [((2, 3), (2, 3), (2, 3)), ((2, 4), (2, 1), (2, 1)), ((2, 3), (1,), (2, 1)), ((), (2,), ())],
)
def test_leading_axes(device, q_lead, k_lead, v_lead):
    """As on the CPU: heads that share keys and values, and what broadcasts in other ways."""
    arrays = [normal(*q_lead, 40, 5), normal(*k_lead, 35, 5, seed=1), normal(*v_lead, 35, 6, seed=2)]
    upstream = normal(*np.broadcast_shapes(q_lead, k_lead, v_lead), 40, 6, seed=3)
    ours, expected = (by_kernel(d, arrays, upstream, factor=0.4, is_causal=True) for d in (device, "cpu"))
    for name, x, y in zip(NAMES, ours, expected, strict=True):
        np.testing.assert_allclose(x, y, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("with_bias", [False, True])
def test_what_has_no_kernel_is_computed_with_a_table(device, dtype, with_bias):
    """Masks, dropout, other dtypes and mixtures of them, as on the CPU."""
    arrays = [normal(2, 9, 4, dtype=dtype), normal(7, 4, seed=1), normal(7, 6, seed=2)]
    upstream, bias = normal(2, 9, 6, seed=3), normal(9, 7, seed=4)
    mask = np.random.default_rng(0).random((9, 7)) < 0.7
    sides = []
    for where in (device, "cpu"):
        leaves = [Tensor(x, requires_grad=True, device=where) for x in (*arrays, bias)]
        settings = {"attn_mask": to_device(mask if with_bias else bias, where), "window": (3, None)}
        output = tiled.tiled_attention(
            *leaves[:3], leaves[3] if with_bias else None, factor=0.5, dropout_p=0.2, seed=1, **settings
        )
        output.backward(to_device(upstream.astype(output.dtype), where))
        grads = [leaf.grad for leaf in leaves[: 4 if with_bias else 3]]
        sides.append([output.numpy(), *(to_device(grad, "cpu") for grad in grads)])
    for x, y in zip(*sides, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, atol=2e-3 if x.dtype == np.float16 or dtype == np.float16 else 2e-6)
