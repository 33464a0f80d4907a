"""Whatever the shapes, masks and numbers: what hypothesis draws, against loops over float64 and against NumPy.

Examples are the same in every run (conftest.py).
"""

import math

import numpy as np
from by_hand import attention_by_hand, softmax_by_hand
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinyattn import Tensor, log_softmax, logsumexp, ops, scaled_dot_product_attention, softmax

SIZE = st.integers(1, 4)
METHODS = st.sampled_from(["steps", "tiled"])
DTYPES = st.sampled_from(["float16", "float32", "float64"])


def numbers(dtype, largest=None):
    """Finite numbers of every size that the dtype has, or up to `largest`."""
    limit = float(np.finfo(dtype).max) if largest is None else largest
    width = np.dtype(dtype).itemsize * 8
    limit = float(np.dtype(dtype).type(limit))
    return st.floats(-limit, limit, width=width, allow_nan=False)


@st.composite
def leading(draw):
    """Three leading shapes that broadcast, and what they broadcast to."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=4, max_dims=3, max_side=3))
    return shapes.input_shapes, shapes.result_shape


@st.composite
def attention_calls(draw):
    """Inputs, a mask of some kind, settings, and the same in by_hand's terms."""
    (q_lead, k_lead, v_lead, mask_lead), _ = draw(leading())
    L, S, E, EV = (draw(SIZE) for _ in range(4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    spread = draw(st.sampled_from([0.0, 1e-3, 1.0, 30.0]))
    q, k, v = (
        rng.normal(size=(*lead, *shape)) * size
        for lead, shape, size in ((q_lead, (L, E), spread), (k_lead, (S, E), 1), (v_lead, (S, EV), 3))
    )
    options = {"is_causal": draw(st.booleans()), "align": draw(st.sampled_from(["upper-left", "lower-right"]))}
    options["scale"] = draw(st.none() | st.floats(-2, 2))
    options["window"] = draw(st.none() | st.tuples(st.none() | st.integers(0, 4), st.none() | st.integers(0, 4)))
    kind = draw(st.sampled_from(["none", "boolean", "additive"]))
    scores_lead = np.broadcast_shapes(q_lead, k_lead)
    mask_lead = draw(st.sampled_from([(), scores_lead, (1,) * len(scores_lead)]))
    mask_shape = (*mask_lead, draw(st.sampled_from([1, L])), draw(st.sampled_from([1, S])))
    mask = {"none": None, "boolean": rng.random(mask_shape) < 0.6, "additive": rng.normal(size=mask_shape) * 3}[kind]
    if kind == "additive" and draw(st.booleans()):
        mask = np.where(rng.random(mask_shape) < 0.3, -math.inf, mask)

    shift = S - L if options["align"] == "lower-right" else 0
    distance = np.arange(S) - np.arange(L)[:, None] - shift
    keep = np.ones((L, S), bool)
    if options["is_causal"]:
        keep &= distance <= 0
    left, right = options["window"] or (None, None)
    keep &= (distance >= -(99 if left is None else left)) & (distance <= (99 if right is None else right))
    if kind == "boolean":
        keep = keep & mask
    by_hand = {"keep": keep, "bias": mask if kind == "additive" else None, "factor": options["scale"]}
    return (q, k, v), mask, options, by_hand, rng


@given(attention_calls(), METHODS)
@settings(max_examples=250)
def test_attention_equals_the_loops(call, method):
    (q, k, v), mask, options, by_hand, rng = call
    leaves = [Tensor(x, requires_grad=True) for x in (q, k, v)]
    if mask is not None:
        leaves.append(Tensor(mask, requires_grad=mask.dtype != bool))
    output = scaled_dot_product_attention(*leaves, **options, method=method)
    upstream = rng.normal(size=output.shape)
    output.backward(upstream)
    expected = attention_by_hand(q, k, v, **by_hand, grad=upstream)
    assert output.shape == expected.output.shape
    names = ["query", "key", "value", "bias"]
    pairs = [(output.data, expected.output)]
    pairs += [(t.grad, getattr(expected, n)) for t, n in zip(leaves, names, strict=False) if t.requires_grad]
    for ours, theirs in pairs:
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)


@given(st.data(), METHODS, DTYPES)
@settings(max_examples=60)
def test_masked_rows_are_zero_and_others_are_averages(data, method, dtype):
    """In every dtype and for inputs of any finite size whose scores are finite, nothing but averages comes out."""
    L, S, E, EV = (data.draw(SIZE) for _ in range(4))
    root = float(np.finfo(dtype).max) ** 0.5 / 4
    q, k = (data.draw(hnp.arrays(dtype, shape, elements=numbers(dtype, root))) for shape in ((L, E), (S, E)))
    v = data.draw(hnp.arrays(dtype, (S, EV), elements=numbers(dtype, float(np.finfo(dtype).max) / 8)))
    keep = data.draw(hnp.arrays(bool, (L, S)))
    output = scaled_dot_product_attention(q, k, v, keep, method=method)
    assert output.dtype == dtype
    ours = output.data.astype(float)
    assert np.isfinite(ours).all()
    slack = 8 * float(np.finfo(dtype).eps) * np.abs(v).max().astype(float) + float(np.finfo(dtype).smallest_subnormal)
    for i in range(L):
        if not keep[i].any():
            np.testing.assert_array_equal(ours[i], 0)
        else:
            seen = v[keep[i]].astype(float)
            assert (ours[i] >= seen.min(0) - slack).all()
            assert (ours[i] <= seen.max(0) + slack).all()


@given(st.data(), DTYPES)
@settings(max_examples=150)
def test_softmax_of_any_finite_numbers(data, dtype):
    """Also of the largest: no warning, no NaN, rows that sum to one, and the loops' weights."""
    x = data.draw(hnp.arrays(dtype, hnp.array_shapes(max_dims=3, max_side=4), elements=numbers(dtype)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    leaf = Tensor(x, requires_grad=True)
    weights = softmax(leaf, axis=axis)
    rows = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]).astype(float)
    ours = np.moveaxis(weights.data, axis, -1).reshape(rows.shape)
    eps = float(np.finfo(dtype).eps)
    # the difference of two scores is rounded in the dtype: an error of eps times its size, in the exponent, matters
    # only where the exponential has not vanished, within 110 of the largest (750 in float64)
    reach = 750 if dtype == "float64" else 110
    np.testing.assert_allclose(ours, np.array([softmax_by_hand(row) for row in rows]), rtol=0, atol=reach * eps)
    np.testing.assert_allclose(ours.astype(float).sum(-1), 1, rtol=4 * eps)
    weights.backward(np.ones(x.shape))
    np.testing.assert_allclose(leaf.grad.astype(float), 0, atol=8 * eps)
    for function in (log_softmax, logsumexp):
        result = function(leaf, axis=axis)
        assert result.dtype == dtype
        assert not np.isnan(result.data).any()


@given(st.data())
@settings(max_examples=100)
def test_log_softmax_is_x_minus_logsumexp(data):
    x = data.draw(hnp.arrays(float, hnp.array_shapes(max_dims=2, max_side=5), elements=numbers("float64", 1e6)))
    expected = x - logsumexp(x).data[..., None]
    np.testing.assert_allclose(log_softmax(x).data, expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(np.exp(log_softmax(x).data), softmax(x).data, rtol=1e-9, atol=1e-300)


BINARY = {
    ops.add: (lambda a, b: a + b, lambda g, a, b: (g, g)),
    ops.subtract: (lambda a, b: a - b, lambda g, a, b: (g, -g)),
    ops.multiply: (lambda a, b: a * b, lambda g, a, b: (g * b, g * a)),
    ops.divide: (lambda a, b: a / b, lambda g, a, b: (g / b, -g * a / b / b)),
    ops.maximum: (np.maximum, lambda g, a, b: (g * ((a > b) + 0.5 * (a == b)), g * ((b > a) + 0.5 * (a == b)))),
    ops.minimum: (np.minimum, lambda g, a, b: (g * ((a < b) + 0.5 * (a == b)), g * ((b < a) + 0.5 * (a == b)))),
}


@given(st.data(), st.sampled_from(list(BINARY)))
@settings(max_examples=200)
def test_broadcasting_of_every_kind(data, function):
    """The gradient of a broadcast input is the sum over its copies."""
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_dims=4, max_side=3))
    a, b = (data.draw(hnp.arrays(float, s, elements=st.integers(-8, 8).map(float))) for s in shapes.input_shapes)
    if function is ops.divide:
        b = np.where(b == 0, 0.5, b)
    forward, backward = BINARY[function]
    leaves = Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)
    output = function(*leaves)
    np.testing.assert_array_equal(output.data, forward(a, b))
    upstream = np.arange(1.0, output.size + 1).reshape(output.shape)
    output.backward(upstream)
    for leaf, wide in zip(leaves, backward(upstream, a, b), strict=True):
        total = np.zeros(leaf.shape)
        copies = np.broadcast_to(np.arange(total.size).reshape(total.shape), output.shape)
        np.add.at(total.reshape(-1), copies.reshape(-1), np.broadcast_to(wide, output.shape).reshape(-1))
        assert leaf.grad.shape == leaf.shape
        np.testing.assert_allclose(leaf.grad, total, rtol=1e-12, atol=1e-12)


@given(st.data())
@settings(max_examples=150)
def test_indexing_of_every_kind(data):
    """The gradient of x[index] counts how often each entry was taken."""
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    basic = hnp.basic_indices(shape, allow_newaxis=True)
    arrays = hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3))
    booleans = hnp.arrays(bool, shape)
    index = data.draw(basic | arrays | booleans)
    x = Tensor(np.arange(math.prod(shape), dtype=float).reshape(shape), requires_grad=True)
    taken = x[index]
    np.testing.assert_array_equal(taken.data, x.data[index])
    taken.backward(np.ones(taken.shape))
    counts = np.bincount(taken.data.astype(int).ravel(), minlength=x.size).reshape(shape)
    np.testing.assert_array_equal(x.grad, counts)


@given(st.data())
@settings(max_examples=100)
def test_matmul_of_every_shape(data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(signature="(n?,k),(k,m?)->(n?,m?)", max_dims=2, max_side=3))
    a_shape, b_shape = shapes.input_shapes
    rng = np.random.default_rng(0)
    a, b = Tensor(rng.normal(size=a_shape), requires_grad=True), Tensor(rng.normal(size=b_shape), requires_grad=True)
    assume(a.ndim and b.ndim)
    output = a @ b
    np.testing.assert_allclose(output.data, np.matmul(a.data, b.data), rtol=1e-12, atol=1e-13)
    upstream, direction = rng.normal(size=output.shape), rng.normal(size=a_shape)
    output.backward(upstream)
    np.testing.assert_allclose((a.grad * direction).sum(), (np.matmul(direction, b.data) * upstream).sum(), atol=1e-10)
    assert (a.grad.shape, b.grad.shape) == (a_shape, b_shape)
    # scaling a by t and b by 1/t leaves the product, so sum(a * da) = sum(b * db)
    np.testing.assert_allclose((a.grad * a.data).sum(), (b.grad * b.data).sum(), rtol=1e-9, atol=1e-10)
