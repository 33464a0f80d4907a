"""The four steps and scaled_dot_product_attention: every setting together, every method, every device."""

import math

import numpy as np
import pytest
from by_hand import attention_by_hand

import tinyattn
from tinyattn import (
    AttentionSteps,
    Tensor,
    attention_steps,
    causal_mask,
    gradcheck,
    scaled_dot_product_attention,
    scores,
    weighted_sum,
)

B, H, L, S, E, EV = 2, 3, 5, 7, 4, 6
NAMES = ("output", "query", "key", "value")


def inputs(rng, dtype=float, lead=(B, H)):
    return [rng.normal(size=(*lead, *shape)).astype(dtype) for shape in ((L, E), (S, E), (S, EV))]


def agree(ours, expected, names=NAMES, **tolerance):
    for name in names:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(expected, name), err_msg=name, **(tolerance or {"rtol": 1e-10, "atol": 1e-13})
        )


# --- the steps -------------------------------------------------------------------------------------------------------


def test_every_step_is_what_its_name_says(rng):
    q, k, v = inputs(rng)
    keep = np.tri(L, S, dtype=bool)
    steps = attention_steps(q, k, v, is_causal=True, scale=0.3)
    assert AttentionSteps._fields == ("scores", "scaled", "masked", "weights", "output")
    expected = attention_by_hand(q, k, v, keep=keep, factor=0.3)
    np.testing.assert_allclose(steps.scores.data, np.einsum("bhle,bhse->bhls", q, k), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(steps.scaled.data, 0.3 * steps.scores.data, rtol=1e-15)
    np.testing.assert_array_equal(steps.masked.data, np.where(keep, steps.scaled.data, -math.inf))
    np.testing.assert_allclose(steps.weights.data, expected.weights, rtol=1e-12)
    np.testing.assert_allclose(steps.output.data, expected.output, rtol=1e-12, atol=1e-14)


def test_the_steps_chained_by_hand_are_attention(rng):
    q, k, v = inputs(rng)
    weights = tinyattn.softmax(tinyattn.mask(tinyattn.scale(scores(q, k), factor=E**-0.5), causal_mask(L, S)))
    output = scaled_dot_product_attention(q, k, v, is_causal=True)
    np.testing.assert_allclose(weighted_sum(weights, v).data, output.data, rtol=1e-12, atol=1e-14)


def test_gradients_are_readable_at_every_step(rng):
    """retain_grad on each intermediate; expected by the formulas that by_hand uses."""
    q, k, v = inputs(rng, lead=())
    upstream, keep = rng.normal(size=(L, EV)), np.tri(L, S, dtype=bool)
    leaves = [Tensor(x, requires_grad=True) for x in (q, k, v)]
    steps = attention_steps(*leaves, is_causal=True)
    for step in steps:
        step.retain_grad()
    steps.output.backward(upstream)
    weights = attention_by_hand(q, k, v, keep=keep).weights
    d_weights = upstream @ v.T
    d_masked = weights * (d_weights - (weights * d_weights).sum(-1, keepdims=True))
    for step, expected in zip(steps, [d_masked / 2, d_masked, d_masked, d_weights, upstream], strict=True):
        np.testing.assert_allclose(step.grad, expected, rtol=1e-11, atol=1e-14)
    assert all(leaf.grad is not None for leaf in leaves)


def test_weights_are_averages(rng):
    """Positive, summing to one, so that every output lies within the values' range."""
    q, k, v = inputs(rng)
    steps = attention_steps(3 * q, k, v)
    assert (steps.weights.data > 0).all()
    np.testing.assert_allclose(steps.weights.data.sum(-1), 1, rtol=1e-14)
    low, high = v.min(-2, keepdims=True), v.max(-2, keepdims=True)
    assert ((low <= steps.output.data) & (steps.output.data <= high)).all()


def test_the_order_of_keys_does_not_matter_and_queries_keep_theirs(attend, rng):
    q, k, v = inputs(rng)
    order, other = rng.permutation(S), rng.permutation(L)
    plain = attend(q, k, v).output
    np.testing.assert_allclose(attend(q, k[..., order, :], v[..., order, :]).output, plain, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(attend(q[..., other, :], k, v).output, plain[..., other, :], rtol=1e-12, atol=1e-14)


def test_adding_one_number_to_all_scores_of_a_row_changes_nothing(attend, rng):
    q, k, v = inputs(rng)
    shift = rng.normal(size=(L, 1)) * 50
    np.testing.assert_allclose(attend(q, k, v, shift).output, attend(q, k, v).output, rtol=1e-10, atol=1e-14)


# --- all settings, all methods ---------------------------------------------------------------------------------------

MASKS = {
    "none": None,
    "boolean": (L, S),
    "boolean per head": (H, 1, S),
    "additive": (L, S),
    "additive per row": (B, 1, L, 1),
}


@pytest.mark.parametrize("scale", [None, 0.7])
@pytest.mark.parametrize("window", [None, (2, 1)])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("align", ["upper-left", "lower-right"])
def test_settings_combine(attend, rng, kind, is_causal, window, align, scale):
    """Every mask with every other: a key is seen where all of them allow it."""
    q, k, v = inputs(rng)
    upstream = rng.normal(size=(B, H, L, EV))
    shape = MASKS[kind]
    mask = None if shape is None else rng.random(shape) < 0.7 if "boolean" in kind else rng.normal(size=shape)
    keep = mask if "boolean" in kind else np.ones((1, 1), bool)
    distance = np.arange(S) - np.arange(L)[:, None] - (S - L if align == "lower-right" else 0)
    if is_causal:
        keep = keep & (distance <= 0)
    if window:
        keep = keep & (distance >= -2) & (distance <= 1)
    bias = mask if "additive" in kind else None
    keep = np.broadcast_to(keep, np.broadcast_shapes(keep.shape, (L, S)))
    ours = attend(q, k, v, mask, is_causal=is_causal, window=window, align=align, scale=scale, upstream=upstream)
    expected = attention_by_hand(q, k, v, keep=keep, bias=bias, factor=scale, grad=upstream)
    agree(ours, expected)
    if bias is not None:
        np.testing.assert_allclose(ours.attn_mask, expected.bias, rtol=1e-9, atol=1e-12)


LEADS = [
    ((), (), ()),
    ((3,), (1,), (3,)),
    ((2, 1), (3,), (2, 3)),
    ((1,), (2, 3), ()),
    ((2, 3, 2), (2, 3, 2), (1, 1, 1)),
    ((), (4,), (4,)),
]


@pytest.mark.parametrize(("q_lead", "k_lead", "v_lead"), LEADS, ids=str)
def test_leading_axes_broadcast(attend, rng, q_lead, k_lead, v_lead):
    q, k, v = (rng.normal(size=(*lead, *s)) for lead, s in ((q_lead, (L, E)), (k_lead, (S, E)), (v_lead, (S, EV))))
    lead = np.broadcast_shapes(q_lead, k_lead, v_lead)
    upstream = rng.normal(size=(*lead, L, EV))
    ours = attend(q, k, v, is_causal=True, upstream=upstream)
    assert ours.output.shape == (*lead, L, EV)
    expected = attention_by_hand(q, k, v, keep=np.tri(L, S, dtype=bool), grad=upstream)
    agree(ours, expected)


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 5e-6), ("float16", 6e-3)])
def test_low_precision_stays_near_float64(attend, rng, dtype, limit):
    """A handful of roundings of 6e-8 or 5e-4 in results of order 1; rows without a key stay exactly 0."""
    q, k, v = inputs(rng, dtype)
    upstream = rng.normal(size=(B, H, L, EV)).astype(dtype)
    keep = rng.random((L, S)) < 0.6
    keep[3] = False
    ours = attend(q, k, v, keep, upstream=upstream.astype(float))
    expected = attention_by_hand(q, k, v, keep=keep, grad=upstream)
    assert {getattr(ours, name).dtype for name in NAMES} == {np.dtype(dtype)}
    agree(ours, expected, rtol=0, atol=limit)
    np.testing.assert_array_equal(ours.output[..., 3, :], 0)


def test_mixed_dtypes(attend, rng):
    """Each gradient has its input's dtype, the output the widest of the three."""
    q, k, v = (x.astype(t) for x, t in zip(inputs(rng), ("float32", "float16", "float64"), strict=True))
    ours = attend(q, k, v, upstream=1)
    assert [getattr(ours, name).dtype for name in NAMES] == ["float64", "float32", "float16", "float64"]
    assert attend(q, k, v.astype("float16")).output.dtype == np.float32


@pytest.mark.parametrize(("n", "s"), [(130, 257), (257, 130), (64, 64), (300, 1), (1, 300)])
def test_sizes_around_any_block(attend, rng, n, s):
    """Longer than a block of rows or keys in either direction; against one dense computation in NumPy."""
    q, k, v = rng.normal(size=(2, n, 9)), rng.normal(size=(1, s, 9)), rng.normal(size=(2, s, 5))
    upstream = rng.normal(size=(2, n, 5))
    keep = np.tri(n, s, s - n, dtype=bool)
    powers = np.exp(q @ k.swapaxes(-1, -2) / 3) * keep
    w = powers / np.where(powers.sum(-1, keepdims=True) == 0, 1, powers.sum(-1, keepdims=True))
    dw = upstream @ v.swapaxes(-1, -2)
    ds = w * (dw - (w * dw).sum(-1, keepdims=True)) / 3
    ours = attend(q, k, v, is_causal=True, align="lower-right", upstream=upstream)
    np.testing.assert_allclose(ours.output, w @ v, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.query, ds @ k, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.key, (ds.swapaxes(-1, -2) @ q).sum(0, keepdims=True), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.value, w.swapaxes(-1, -2) @ upstream, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("slope", [1, -1])
@pytest.mark.parametrize("masked", [False, True])
def test_scores_that_rise_or_fall_all_along_the_keys(attend, rng, slope, masked):
    """Every block of keys has a peak of its own, far above or below that of the one before."""
    s = 5000
    scores_of = slope * np.linspace(-900, 900, s) + rng.normal(size=s)
    q, k, v = np.array([[1.0], [0.01]]), scores_of[:, None], rng.normal(size=(s, 3))
    keep = rng.random((2, s)) < 0.5 if masked else np.ones((2, s), bool)
    upstream = rng.normal(size=(2, 3))
    table = np.where(keep, q @ k.T, -np.inf)
    w = np.exp(table - table.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    dw = upstream @ v.T
    ds = w * (dw - (w * dw).sum(-1, keepdims=True))
    ours = attend(q, k, v, keep if masked else None, scale=1.0, upstream=upstream)
    np.testing.assert_allclose(ours.output, w @ v, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.query, ds @ k, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.key, ds.T @ q, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(ours.value, w.T @ upstream, rtol=1e-9, atol=1e-12)


def test_large_scores_leave_the_largest_alone(attend):
    """Differences of 1e4 between scores: one weight is 1, the others 0, without a warning and with finite gradients."""
    q, k = np.float32([[100.0, 0]]), np.float32([[100, 0], [-100, 0], [0, 100]])
    ours = attend(q, k, np.eye(3, dtype=np.float32), scale=1.0, upstream=1)
    assert ours.output.tolist() == [[1, 0, 0]]
    assert all(np.isfinite(getattr(ours, name)).all() for name in NAMES)


def test_gradcheck_of_the_whole(method, rng):
    bias = rng.normal(size=(1, S))

    def attention(*x):
        return scaled_dot_product_attention(*x, is_causal=True, scale=0.4, method=method)

    assert gradcheck(attention, *inputs(rng, lead=(2,)), bias)


def test_one_tensor_in_three_roles(method, rng):
    """Self-attention without projections: the three gradients add up in one leaf."""
    x = rng.normal(size=(L, E))
    leaf = Tensor(x, requires_grad=True)
    upstream = rng.normal(size=(L, E))
    scaled_dot_product_attention(leaf, leaf, leaf, is_causal=True, method=method).backward(upstream)
    parts = attention_by_hand(x, x, x, keep=np.tri(L, dtype=bool), grad=upstream)
    np.testing.assert_allclose(leaf.grad, parts.query + parts.key + parts.value, rtol=1e-10, atol=1e-13)


def test_a_second_backward_through_attention(method, rng):
    """D17; and the first does not spoil what the second needs."""
    leaves = [Tensor(x, requires_grad=True) for x in inputs(rng)]
    output = scaled_dot_product_attention(*leaves, dropout_p=0.3, rng=0, method=method)
    value, upstream = output.data.copy(), rng.normal(size=output.shape)
    output.backward(upstream)
    once = [leaf.grad.copy() for leaf in leaves]
    output.backward(upstream)
    for leaf, gradient in zip(leaves, once, strict=True):
        np.testing.assert_allclose(leaf.grad, 2 * gradient, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(output.data, value)


def test_inputs_are_left_as_they_were(method, rng):
    arrays = [*inputs(rng), rng.normal(size=(L, S))]
    for x in arrays:
        x.flags.writeable = False
    leaves = [tinyattn.as_tensor(x) for x in arrays]
    for leaf in leaves:
        leaf.requires_grad = True
    output = scaled_dot_product_attention(*leaves, method=method)
    upstream = np.ones(output.shape)
    upstream.flags.writeable = False
    output.backward(upstream)


def test_inputs_of_any_memory_layout(attend, rng):
    """Heads split by reshape and swapaxes are views with strides; so are reversed, repeated and Fortran arrays."""
    q, k, v = (rng.normal(size=(B, n, H * w)) for n, w in ((L, E), (S, E), (S, EV)))
    views = [x.reshape(*x.shape[:-1], H, -1).swapaxes(1, 2) for x in (q, k, v)]
    packed = attend(*[x.copy(order="C") for x in views], upstream=1)
    agree(attend(*views, upstream=1), packed, rtol=1e-12, atol=1e-14)
    odd = [np.flip(np.flip(x).copy(order="F")) for x in views]
    agree(attend(*odd, upstream=1), packed, rtol=1e-12, atol=1e-14)
    keep = np.broadcast_to(rng.random((1, S)) < 0.7, (L, S))
    agree(attend(*views, keep, upstream=1), attend(*views, keep.copy(), upstream=1), rtol=1e-13, atol=1e-15)


def test_integers_and_lists_become_float64(attend):
    ours = scaled_dot_product_attention([[1, 0]], [[1, 0], [0, 1]], [[1, 2], [3, 4]])
    expected = attention_by_hand(np.array([[1, 0]]), np.array([[1, 0], [0, 1]]), np.array([[1, 2], [3, 4]]))
    assert ours.dtype == np.float64
    np.testing.assert_allclose(ours.data, expected.output, rtol=1e-14, atol=1e-14)


def test_nothing_is_recorded_when_nothing_needs_a_gradient(method, rng):
    output = scaled_dot_product_attention(*inputs(rng), method=method)
    assert not output.requires_grad
    leaf = Tensor(inputs(rng)[0], requires_grad=True)
    with tinyattn.no_grad():
        assert not scaled_dot_product_attention(leaf, *inputs(rng)[1:], method=method).requires_grad


# --- devices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_devices_agree(device, rng, dtype):
    """Forward and backward through each step and through the function, within a few roundings."""
    arrays = inputs(rng, dtype, lead=(2,))
    bias = rng.normal(size=(L, S)).astype(dtype)
    upstream = rng.normal(size=(2, L, EV)).astype(dtype)
    expected = attention_by_hand(*arrays, keep=np.tri(L, S, dtype=bool), bias=bias, grad=upstream)
    limit = {"float64": 1e-12, "float32": 5e-6, "float16": 1e-2}[dtype]
    for function in (scaled_dot_product_attention, lambda *x, **o: attention_steps(*x, **o).output):
        leaves = [Tensor(x, requires_grad=True, device=device) for x in (*arrays, bias)]
        output = function(*leaves, is_causal=True)
        assert (output.device, output.dtype) == (device, dtype)
        output.backward(Tensor(upstream, device=device))
        np.testing.assert_allclose(output.numpy(), expected.output, rtol=0, atol=limit)
        for leaf, name in zip(leaves, ("query", "key", "value", "bias"), strict=True):
            assert leaf.grad.dtype == dtype
            gradient = leaf.grad.get() if device == "cuda" else leaf.grad
            np.testing.assert_allclose(gradient, getattr(expected, name), rtol=0, atol=limit, err_msg=name)


def test_a_row_without_a_key_on_every_device(device, rng):
    """D1 on every backend."""
    arrays = inputs(rng, "float32", lead=())
    keep = np.ones((L, S), bool)
    keep[2] = False
    leaves = [Tensor(x, requires_grad=True, device=device) for x in arrays]
    output = scaled_dot_product_attention(*leaves, keep)
    output.backward(Tensor(np.ones((L, EV), np.float32), device=device))
    np.testing.assert_array_equal(output.numpy()[2], 0)
    np.testing.assert_array_equal(to_numpy(leaves[0].grad)[2], 0)
    assert all(np.isfinite(to_numpy(leaf.grad)).all() for leaf in leaves)


def to_numpy(array):
    return tinyattn.as_tensor(array).numpy()


# --- mistakes --------------------------------------------------------------------------------------------------------

Q, K, V = np.ones((2, 5, 4)), np.ones((2, 7, 4)), np.ones((2, 7, 6))
attention = scaled_dot_product_attention
MISTAKES = [
    (lambda **o: attention(Q, K[..., :3], V, **o), ValueError, r"one width E, got \(2, 5, 4\) and \(2, 7, 3\)"),
    (lambda **o: attention(Q, K, V[:, :6], **o), ValueError, r"\(2, (5, 7|7, 4)\).*\(2, 6, 6\)"),
    (lambda **o: attention(Q[0, 0], K, V, **o), ValueError, r"query \(..., L, E\).*got \(4,\) and \(2, 7, 4\)"),
    (lambda **o: attention(Q, K[0, 0], V, **o), ValueError, r"key \(..., S, E\).*got \(2, 5, 4\) and \(4,\)"),
    (lambda **o: attention(Q, K, V[0, 0], **o), ValueError, r"value \(..., S, Ev\).*\(6,\)"),
    (lambda **o: attention(1.0, K, V, **o), ValueError, r"got \(\) and \(2, 7, 4\)"),
    (lambda **o: attention(np.ones((3, 5, 4)), K, V, **o), ValueError, r"broadcast.*\(3, 5, 4\).*\(2, 7, 4\)"),
    (lambda **o: attention(Q, K, np.ones((3, 7, 6)), **o), ValueError, r"broadcast.*\(3, 7, 6\)"),
    (lambda **o: attention(Q[..., :0], K[..., :0], V, **o), ValueError, "width E of at least 1"),
    (lambda **o: attention(Q, K, None, **o), TypeError, "float64, got object"),
    (lambda **o: attention(Q, "keys", V, **o), TypeError, "float64, got <U4"),
    (lambda **o: attention(Q + 1j, K, V, **o), TypeError, "float64, got complex128"),
    (lambda **o: attention(Q, K, V, np.ones((5, 7), int), **o), TypeError, "boolean array .*, got int64"),
    (lambda **o: attention(Q, K, V, np.ones((5, 6), bool), **o), ValueError, r"= \(2, 5, 7\), got \(5, 6\)"),
    (lambda **o: attention(Q, K, V, np.ones((3, 2, 5, 7)), **o), ValueError, r"= \(2, 5, 7\), got \(3, 2, 5, 7\)"),
    (lambda **o: attention(Q, K, V, "causal", **o), TypeError, "got <U6"),
    (lambda **o: attention(Q, K, V, None, 1.5, **o), ValueError, "dropout_p must be a probability .* got 1.5"),
    (lambda **o: attention(Q, K, V, None, -0.1, **o), ValueError, "from 0 to 1, got -0.1"),
    (lambda **o: attention(Q, K, V, None, math.nan, **o), ValueError, "from 0 to 1, got nan"),
    (lambda **o: attention(Q, K, V, None, True, **o), ValueError, "from 0 to 1, got True"),
    (lambda **o: attention(Q, K, V, None, Tensor(0.1), **o), ValueError, "from 0 to 1, got Tensor"),
    (lambda **o: attention(Q, K, V, None, np.ones((5, 7)), **o), ValueError, r"got ndarray of shape \(5, 7\)"),
    (lambda **o: attention(Q, K, V, None, "0.1", **o), ValueError, "from 0 to 1, got '0.1'"),
    (lambda **o: attention(Q, K, V, is_causal=1, **o), TypeError, "is_causal must be True or False, got 1"),
    (lambda **o: attention(Q, K, V, is_causal=causal_mask(5, 7), **o), TypeError, "is_causal must be True or False"),
    (lambda **o: attention(Q, K, V, is_causal=None, **o), TypeError, "is_causal must be True or False, got None"),
    (lambda **o: attention(Q, K, V, enable_gqa="no", **o), TypeError, "enable_gqa must be True or False, got 'no'"),
    (lambda **o: attention(Q, K, V, scale=math.nan, **o), ValueError, "scale must be finite, got nan"),
    (lambda **o: attention(Q, K, V, scale=math.inf, **o), ValueError, "scale must be finite, got inf"),
    (lambda **o: attention(Q, K, V, scale="0.1", **o), TypeError, "scale must be a number, got str"),
    (lambda **o: attention(Q, K, V, scale=True, **o), TypeError, "scale must be a number, got bool"),
    (lambda **o: attention(Q, K, V, scale=1j, **o), TypeError, "scale must be a number, got complex"),
    (lambda **o: attention(Q, K, V, align="left", **o), ValueError, "align must be .*, got 'left'"),
    (lambda **o: attention(Q, K, V, window=3, **o), ValueError, r"a pair \(left, right\).* got 3"),
    (lambda **o: attention(Q, K, V, dropout_p=0.1, rng="seed", **o), TypeError, "rng must be None, an integer seed or"),
    (lambda **o: attention(Q, K, V, dropout_p=0.1, rng=-1, **o), ValueError, "a seed of at least 0, got -1"),
    (lambda **o: attention(Q, K, V, dropout_p=0.1, rng=True, **o), TypeError, "rng must be None, .* got bool"),
    (lambda **o: attention(Q, K, V, causal=True, **o), TypeError, "unexpected keyword argument 'causal'"),
    (lambda **o: attention(Q, K, V, None, 0.0, False, 0.5, **o), TypeError, "positional arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_named_in_one_sentence(call, error, message, method):
    with pytest.raises(error, match=message) as raised:
        call(method=method)
    assert "\n" not in str(raised.value)


def test_an_unknown_method():
    for method in ("flash", None, 1):
        with pytest.raises(ValueError, match=f"method must be 'auto', 'steps' or 'tiled', got {method!r}"):
            attention(Q, K, V, method=method)


def test_tensors_on_different_devices_do_not_mix():
    for place in range(3):
        tensors = [Tensor(x, device="emulated" if i == place else "cpu") for i, x in enumerate((Q, K, V))]
        with pytest.raises(ValueError, match=r"on one device, got '\w+' and '\w+': move one with \.to\(\)"):
            attention(*tensors)


def test_mistakes_in_single_steps():
    for call, error, message in (
        (lambda: scores(Q, 3.0), ValueError, r"got \(2, 5, 4\) and \(\)"),
        (lambda: scores(Q, np.ones((2, 7, 3))), ValueError, r"got \(2, 5, 4\) and \(2, 7, 3\)"),
        (lambda: weighted_sum(np.ones((5, 7)), np.ones((6, 4))), ValueError, r"weights \(5, 7\) and value \(6, 4\)"),
        (lambda: weighted_sum(0.5, V), ValueError, r"got \(\) and \(2, 7, 6\)"),
        (lambda: tinyattn.scale(Q, factor=Tensor(1.0)), TypeError, "scale must be a number, got Tensor"),
        (lambda: tinyattn.scale(Q, factor=math.inf), ValueError, "scale must be finite, got inf"),
        (lambda: tinyattn.scale(Q), TypeError, "factor"),
        (lambda: tinyattn.dropout(Q, p=2, seed=0), ValueError, "from 0 to 1, got 2"),
        (lambda: attention_steps(Q, K, V, method="tiled"), TypeError, "unexpected keyword argument 'method'"),
    ):
        with pytest.raises(error, match=message) as raised:
            call()
        assert "\n" not in str(raised.value)
