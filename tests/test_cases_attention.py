"""Bug reports of other projects about attention, its masks, softmax, scale, gradients and dropout, as tests.

Each test carries the id of its report. `attend` runs it by every method of computing attention. Numbers in the tests
were derived by hand or from the definition in float64; none is copied from this engine's output.
"""

import math

import numpy as np
import pytest
from by_hand import attention_by_hand, softmax_by_hand

import tinyattn
from tinyattn import (
    Tensor,
    attention_steps,
    causal_mask,
    entropy,
    gradcheck,
    log,
    log_softmax,
    logsumexp,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
    tanh,
    window_mask,
)

INF = math.inf


def normal(rng, *shapes, dtype=float):
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def zeros_and_values(L, S, values):
    """Queries and keys of 0, so that the output is the mean of the values that may be attended to."""
    return np.zeros((L, 2)), np.zeros((S, 2)), np.asarray(values, float).reshape(S, -1)


def gradient(function, x, upstream=None):
    leaf = Tensor(x, requires_grad=True)
    output = function(leaf)
    output.backward(upstream)
    return leaf.grad


# --- fully masked rows, NaN ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_NAN_01_fully_masked_rows_are_zero(attend, rng, dtype):
    q, k, v = normal(rng, *[(1, 1, 8, 8)] * 3, dtype=dtype)
    keep = np.zeros((1, 1, 8, 8), bool)
    keep[..., :4, :4] = True
    ours = attend(q, k, v, keep, upstream=1)
    expected = attention_by_hand(q[..., :4, :], k[..., :4, :], v[..., :4, :], grad=np.ones((1, 1, 4, 8)))
    limit = {"float16": 3e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
    np.testing.assert_allclose(ours.output[..., :4, :], expected.output, rtol=0, atol=limit)
    np.testing.assert_array_equal(ours.output[..., 4:, :], 0)
    for name in ("query", "key", "value"):
        np.testing.assert_allclose(getattr(ours, name)[..., :4, :], getattr(expected, name), rtol=0, atol=4 * limit)
        np.testing.assert_array_equal(getattr(ours, name)[..., 4:, :], 0)


@pytest.mark.parametrize("how", ["boolean", "additive", "causal", "window", "padding", "everything"])
def test_NAN_01_whatever_leaves_a_row_without_a_key(attend, rng, how):
    """D1: zero output and zero gradients, by every way of masking."""
    q, k, v = normal(rng, (2, 5, 3), (2, 3, 3), (2, 3, 4))
    keep, options, mask = np.ones((2, 5, 3), bool), {}, None
    if how in ("boolean", "additive"):
        keep[:, 2] = False
        mask = keep if how == "boolean" else np.where(keep, 0.0, -INF)
    if how == "everything":
        keep[:] = False
        mask = np.zeros((5, 3), bool)
    if how == "causal":
        keep &= causal_mask(5, 3, align="lower-right")
        options = {"is_causal": True, "align": "lower-right"}
    if how == "window":
        keep &= window_mask(5, 3, 0, 0)
        options = {"window": (0, 0)}
    if how == "padding":
        keep[1] = False
        mask = padding_mask([3, 0], 3)[:, 0]
    upstream = rng.normal(size=(2, 5, 4))
    ours = attend(q, k, v, mask, upstream=upstream, **options)
    expected = attention_by_hand(q, k, v, keep=keep, grad=upstream)
    empty = ~keep.any(-1)
    assert empty.any()
    np.testing.assert_array_equal(ours.output[empty], 0)
    np.testing.assert_array_equal(ours.query[empty], 0)
    for name in ("output", "query", "key", "value"):
        np.testing.assert_allclose(getattr(ours, name), getattr(expected, name), rtol=1e-10, atol=1e-14)
    if how == "additive":
        assert np.isfinite(ours.attn_mask).all()
        np.testing.assert_array_equal(ours.attn_mask[:, 2], 0)


def test_NAN_04_a_mask_of_the_first_tokens_equals_the_shorter_sequence(attend, rng):
    q, k, v = normal(rng, *[(1, 2, 8, 8)] * 3)
    keep = np.zeros((8, 8), bool)
    keep[:4, :4] = True
    short = attend(q[:, :, :4], k[:, :, :4], v[:, :, :4])
    np.testing.assert_allclose(attend(q, k, v, keep).output[:, :, :4], short.output, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(attend(q, k, v, keep).output[:, :, 4:], 0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_NAN_05_a_row_at_the_lowest_number_is_the_plain_mean(attend, rng, dtype):
    """The lowest number absorbs the scores. In float16 it does not, since the sum is float32 (D9)."""
    q, k, v = normal(rng, (2, 4), (3, 4), (3, 2), dtype=dtype)
    mask = np.zeros((2, 3), dtype)
    mask[0] = np.finfo(dtype).min
    ours = attend(q, k, v, mask, upstream=1)
    expected = attention_by_hand(q, k, v, bias=mask).output if dtype == "float16" else None
    limit = {"float16": 0.02, "float32": 1e-6, "float64": 1e-14}[dtype]
    row = expected[0] if dtype == "float16" else v.astype(float).mean(0)
    np.testing.assert_allclose(ours.output[0], row, rtol=0, atol=limit)
    for name in ("output", "query", "key", "value", "attn_mask"):
        assert np.isfinite(getattr(ours, name)).all()


def test_NAN_08_zero_rows_have_zero_gradients(attend):
    q, k, v = [[1.0, 0], [0, 1]], [[1.0, 0], [0, 1], [1, 1]], [[1.0, 2], [3, 4], [5, 6]]
    ours = attend(q, k, v, np.array([[True] * 3, [False] * 3]), upstream=1)
    np.testing.assert_allclose(ours.output, [[3, 4], [0, 0]], atol=1e-12)
    np.testing.assert_allclose(ours.query, [[0, 1.134516], [0, 0]], atol=5e-7)
    np.testing.assert_allclose(ours.key, [[-1.134516, 0], [0, 0], [1.134516, 0]], atol=5e-7)
    np.testing.assert_allclose(ours.value, np.repeat([[0.401112], [0.197776], [0.401112]], 2, axis=1), atol=5e-7)


def test_NAN_09_returned_weights_agree_with_the_output(rng):
    q, k, v = normal(rng, *[(1, 1, 8, 8)] * 3)
    keep = np.zeros((8, 8), bool)
    keep[:4, :4] = True
    steps = attention_steps(q, k, v, keep)
    np.testing.assert_array_equal(steps.weights.data[..., 4:, :], 0)
    np.testing.assert_allclose(steps.weights.data[..., :4, :].sum(-1), 1, rtol=1e-14)
    np.testing.assert_allclose(steps.output.data, steps.weights.data @ v, rtol=1e-13, atol=1e-14)
    assert all(not np.isnan(step.data).any() for step in steps)


@pytest.mark.parametrize("align", ["upper-left", "lower-right"])
def test_NAN_10_far_more_queries_than_keys(attend, rng, align):
    q, k, v = normal(rng, (256, 32), (3, 32), (3, 5))
    ours = attend(q, k, v, is_causal=True, align=align, upstream=1)
    for name in ("output", "query", "key", "value"):
        assert np.isfinite(getattr(ours, name)).all()
    keep = np.arange(3) <= np.arange(256)[:, None] + (3 - 256 if align == "lower-right" else 0)
    np.testing.assert_allclose(ours.output, attention_by_hand(q, k, v, keep=keep).output, rtol=1e-11, atol=1e-14)
    if align == "lower-right":
        np.testing.assert_array_equal(ours.output[:253], 0)
        np.testing.assert_array_equal(ours.query[:253], 0)


@pytest.mark.parametrize("bad", [math.nan, INF, -INF])
def test_D2_what_a_boolean_mask_hides_does_not_leak(attend, rng, bad):
    """NaN or infinity in a masked key, and in a query that may attend to nothing."""
    for sign in (1, -1):  # hidden scores that are all inf, or all -inf, and so the same as masked ones
        q, k, v = normal(rng, (2, 4, 3), (2, 5, 3), (2, 5, 6))
        q[..., 1] = sign * np.abs(q[..., 1])
        upstream = rng.normal(size=(2, 4, 6))
        for blind in (False, True):
            keep = np.ones((4, 5), bool)
            keep[:, 3] = False
            spoiled_k, spoiled_q = k.copy(), q.copy()
            spoiled_k[:, 3, 1] = bad
            if blind:
                keep[1] = False
                spoiled_q[:, 1, 0] = bad
            clean = attend(q, k, v, keep, upstream=upstream)
            with np.errstate(invalid="ignore"):  # inf - inf among scores that nobody sees
                spoiled = attend(spoiled_q, spoiled_k, v, keep, upstream=upstream)
            for name in ("output", "query", "key", "value"):
                ours, expected = getattr(spoiled, name), getattr(clean, name)
                np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-15)


# --- what a mask means -----------------------------------------------------------------------------------------------

THREE = np.zeros((3, 2)), np.zeros((3, 2)), np.array([[1.0, 0], [0, 1], [2, 2]])


def test_MSK_01_true_means_may_attend(attend):
    """D3."""
    np.testing.assert_allclose(attend(*THREE, np.eye(3, dtype=bool)).output, THREE[2], rtol=1e-14)
    for text in (scaled_dot_product_attention.__doc__, tinyattn.mask.__doc__):
        assert "True = may attend" in text


def test_MSK_02_the_lower_triangle_is_the_causal_one(attend):
    expected = [[1, 0], [0.5, 0.5], [1, 1]]
    for mask, options in ((np.tri(3, dtype=bool), {}), (causal_mask(3), {}), (None, {"is_causal": True})):
        np.testing.assert_allclose(attend(*THREE, mask, **options).output, expected, rtol=1e-14)


def test_MSK_03_a_float_mask_of_ones_and_zeros_is_added(attend):
    weights = attend(THREE[0], THREE[1], np.eye(3), np.tri(3)).output
    np.testing.assert_allclose(weights[0], [0.576117, 0.211942, 0.211942], atol=5e-7)
    np.testing.assert_allclose(weights[2], [1 / 3] * 3, rtol=1e-14)
    assert "added" in scaled_dot_product_attention.__doc__


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_MSK_05_an_integer_mask_raises(attend, dtype):
    """D4."""
    for mask in (np.array([1, 1, 0], dtype), np.ones((3, 3), dtype)):
        with pytest.raises(TypeError, match=f"boolean array .* or a floating one .*, got {dtype}"):
            attend(*THREE, mask)
        with pytest.raises(TypeError, match=f"got {dtype}"):
            tinyattn.mask(np.zeros((3, 3)), mask)
    with pytest.raises(TypeError, match="got int64"):
        scaled_dot_product_attention(*THREE, [[1, 1, 0]] * 3)
    with pytest.raises(TypeError, match="float64, got object"):
        scaled_dot_product_attention(*THREE, np.full((3, 3), None))


def test_MSK_06_a_mask_broadcasts_over_all_leading_axes(attend, rng):
    q, k, v = normal(rng, (3, 2, 4, 7, 16), (3, 2, 4, 5, 16), (3, 2, 4, 5, 32))
    keep = np.array([[[True, False, True, True, False]]])
    ours = attend(q, k, v, keep, upstream=1)
    full = attend(q, k, v, np.broadcast_to(keep, (3, 2, 4, 7, 5)), upstream=1)
    assert ours.output.shape == (3, 2, 4, 7, 32)
    for name in ("output", "query", "key", "value"):
        np.testing.assert_allclose(getattr(ours, name), getattr(full, name), rtol=1e-13, atol=1e-14)
    with pytest.raises(ValueError, match=r"must broadcast to the scores' shape .* \(2, 7, 5\), got \(3, 1, 7, 5\)"):
        attend(q[0, :, 0], k[0, :, 0], v[0, :, 0], np.ones((3, 1, 7, 5), bool))


@pytest.mark.parametrize("kind", [bool, float])
def test_MSK_07_a_mask_reaches_every_head_and_sample(attend, rng, kind):
    q, k, v = normal(rng, *[(2, 3, 16, 32)] * 3)
    mask = (rng.random((1, 1, 16, 16)) < 0.5) if kind is bool else rng.normal(size=(1, 1, 16, 16))
    full = np.broadcast_to(mask, (2, 3, 16, 16)).copy()
    ours, expanded = attend(q, k, v, mask, upstream=1), attend(q, k, v, full, upstream=1)
    np.testing.assert_allclose(ours.output, expanded.output, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        ours.output[1, 2], attend(q[1, 2], k[1, 2], v[1, 2], mask[0, 0]).output, rtol=1e-12, atol=1e-14
    )
    if kind is float:
        summed = expanded.attn_mask.sum((0, 1), keepdims=True)
        np.testing.assert_allclose(ours.attn_mask, summed, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("kind", [bool, float])
def test_MSK_11_a_mask_and_is_causal_both_apply(attend, rng, kind):
    """D5."""
    q, k, v = normal(rng, (4, 3), (6, 3), (6, 2))
    given = (rng.random((4, 6)) < 0.7) if kind is bool else rng.normal(size=(4, 6))
    together = (
        {"keep": np.tri(4, 6, dtype=bool) & given}
        if kind is bool
        else {"keep": np.tri(4, 6, dtype=bool), "bias": given}
    )
    ours = attend(q, k, v, given, is_causal=True, upstream=1)
    expected = attention_by_hand(q, k, v, grad=np.ones((4, 2)), **together)
    for name in ("output", "query", "key", "value"):
        np.testing.assert_allclose(getattr(ours, name), getattr(expected, name), rtol=1e-11, atol=1e-14)
    assert "on top of attn_mask" in scaled_dot_product_attention.__doc__


def test_MSK_12_a_cap_goes_before_the_mask():
    """Soft-capping is not an argument; written with the steps, the mask comes last, and nothing lifts its -inf."""
    scores, keep = Tensor([[0.3, 0.9]]), np.array([[True, False]])
    assert softmax(tinyattn.mask(tanh(scores), keep)).tolist() == [[1, 0]]
    with pytest.raises(TypeError, match="softcap"):
        scaled_dot_product_attention(*THREE, softcap=1.0)


def test_MSK_13_lengths_of_samples_hide_the_padding(attend, rng):
    lengths = np.array([24, 125, 53, 28, 77, 96, 13, 114])
    q, k, v = normal(rng, (8, 3, 5, 4), (8, 3, 128, 4), (8, 3, 128, 2))
    mask = padding_mask(lengths, 128)
    np.testing.assert_array_equal(mask, (np.arange(128) < lengths[:, None])[:, None, None, :])
    ours = attend(q, k, v, mask, upstream=1)
    for b, n in enumerate(lengths):
        alone = attend(q[b], k[b, :, :n], v[b, :, :n])
        np.testing.assert_allclose(ours.output[b], alone.output, rtol=1e-11, atol=1e-14)
        np.testing.assert_array_equal(ours.key[b, :, n:], 0)
        np.testing.assert_array_equal(ours.value[b, :, n:], 0)


def test_MSK_15_a_2d_mask_is_queries_by_keys(attend, rng):
    """D6."""
    q, k, v = normal(rng, (3, 3, 4), (3, 16, 4), (3, 16, 2))
    keep = rng.random((3, 16)) < 0.5
    ours = attend(q, k, v, keep)
    expected = attention_by_hand(q, k, v, keep=np.broadcast_to(keep, (3, 3, 16)))
    np.testing.assert_allclose(ours.output, expected.output, rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match=r"\(4, 3, 16\), got \(4, 16\)"):
        attend(*normal(rng, (4, 3, 4), (4, 16, 4), (4, 16, 2)), np.ones((4, 16), bool))
    assert "2-D mask" in scaled_dot_product_attention.__doc__


# --- causal alignment ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "L", "S", "values", "lower", "upper"),
    [
        ("CAU-01", 2, 5, [1, 2, 3, 4, 5], [2.5, 3], [1, 1.5]),
        ("CAU-02", 5, 2, [1, 2], [0, 0, 0, 1, 1.5], [1, 1.5, 1.5, 1.5, 1.5]),
        ("CAU-03", 1, 8, range(8), [3.5], [0]),
        ("CAU-04", 4, 2, [1, 2], [0, 0, 1, 1.5], [1, 1.5, 1.5, 1.5]),
    ],
)
def test_CAU_01_02_03_04_one_rule_for_each_corner(attend, id, L, S, values, lower, upper):
    """D7: is_causal counts from the upper left whichever is longer, and from the lower right when asked to."""
    inputs = zeros_and_values(L, S, values)
    for expected, runs in (
        (upper, [{"is_causal": True}, {"attn_mask": causal_mask(L, S)}]),
        (lower, [{"is_causal": True, "align": "lower-right"}, {"attn_mask": causal_mask(L, S, align="lower-right")}]),
    ):
        for options in runs:
            np.testing.assert_allclose(attend(*inputs, **options).output[:, 0], expected, rtol=1e-14)


def test_CAU_06_a_partly_filled_cache_needs_an_offset_per_sample(attend):
    q, k, v = np.zeros((2, 2, 2)), np.zeros((2, 6, 2)), np.tile(np.arange(1.0, 7)[:, None], (2, 1, 1))
    filled = np.array([4, 3]).reshape(2, 1, 1)
    keep = np.arange(6) <= np.arange(2)[:, None] + filled - 2
    np.testing.assert_allclose(attend(q, k, v, keep).output[..., 0], [[2, 2.5], [1.5, 2]], rtol=1e-14)


# --- softmax ---------------------------------------------------------------------------------------------------------


def test_SMX_01_large_logits_do_not_overflow():
    logits = np.float32([-249.873, -424.127, -460.293, 378.097, -292.615])
    assert softmax(logits).tolist() == [0, 0, 0, 1, 0]
    for dtype in ("float16", "float32", "float64"):
        top = np.finfo(dtype).max
        assert softmax(np.array([top, 0, -top], dtype)).tolist() == [1, 0, 0]
        assert logsumexp(np.array([top, -top], dtype)).item() == top
        assert log_softmax(np.array([top, 0], dtype)).tolist() == [0, -top]
    extreme = np.float32([[1e38, -1e38], [-1e38, -1e38]])
    assert softmax(extreme).tolist() == [[1, 0], [0.5, 0.5]]


def test_SMX_02_infinities():
    """D8."""
    assert softmax([0.0, -INF]).tolist() == [1, 0]
    with np.errstate(divide="ignore"):
        assert log(softmax([0.0, -INF])).tolist() == [0, -INF]
    assert log_softmax([0.0, -INF]).tolist() == [0, -INF]
    rows = softmax([[0.0, INF], [0.0, 1.0], [-INF, -INF]])
    assert np.isnan(rows.data[0]).all()
    np.testing.assert_allclose(rows.data[1], softmax_by_hand([0, 1]), rtol=1e-14)
    assert rows.tolist()[2] == [0, 0]
    assert gradient(softmax, [-INF, -INF], [1.0, 2]).tolist() == [0, 0]
    assert gradient(softmax, [0.0, -INF], [1.0, 2]).tolist() == [0, 0]
    assert "+inf gives NaN" in softmax.__doc__


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_SMX_03_one_element_at_the_edge_of_exp(dtype):
    edge = np.log(np.finfo(dtype).max)  # 88.72284 in float32
    for x in (edge, 2 * edge, -2 * edge, np.finfo(dtype).max):
        assert log_softmax(np.array([x], dtype)).tolist() == [0]
        assert softmax(np.array([x], dtype)).tolist() == [1]
    assert log_softmax(np.float32([88.72284])).tolist() == [0]


def test_SMX_04_log_of_softmax_and_log_softmax_agree():
    ours = log_softmax([-5.2040, 7.8325])
    np.testing.assert_allclose(ours.data, [-13.0365022, -2.17931e-6], rtol=5e-6)
    np.testing.assert_allclose(np.exp(ours.data), [2.17931e-6, 0.99999782], rtol=5e-6)
    np.testing.assert_allclose(log(softmax([-5.2040, 7.8325])).data, ours.data, rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_SMX_06_log_softmax_backward_does_not_divide_by_what_underflowed(dtype):
    ours = gradient(log_softmax, np.array([0, -800], dtype), [0.3, 0.7])
    np.testing.assert_allclose(ours, [-0.7, 0.7], rtol=1e-6)


@pytest.mark.parametrize("n", [4096, 10_000])
def test_SMX_07_float16_rows_are_summed_in_float32(attend, n):
    """D9."""
    weights = softmax(np.zeros(n, np.float16))
    assert weights.dtype == np.float16
    np.testing.assert_array_equal(weights.data, np.float16(1 / n))
    columns = np.zeros((n, 2), np.float16)  # along the first axis NumPy adds row after row
    np.testing.assert_array_equal(softmax(columns, axis=0).data, np.float16(1 / n))
    assert logsumexp(columns, axis=0).tolist() == [np.float16(math.log(n))] * 2
    assert logsumexp(np.zeros(n, np.float16)).item() == np.float16(math.log(n))
    assert log_softmax(np.zeros(n, np.float16)).tolist()[0] == -np.float16(math.log(n))
    q, k, v = np.zeros((1, 2), np.float16), np.zeros((n, 2), np.float16), np.full((n, 1), 3, np.float16)
    assert attend(q, k, v).output.tolist() == [[3]]
    grad = gradient(softmax, np.zeros(4096, np.float16), np.arange(4096) % 2)
    np.testing.assert_allclose(grad.astype(float), (np.arange(4096) % 2 - 0.5) / 4096, rtol=2e-3)


def test_SMX_08_logsumexp_of_nothing_has_zero_gradient():
    """D8."""
    assert logsumexp([-INF, -INF]).item() == -INF
    assert gradient(logsumexp, [-INF, -INF]).tolist() == [0, 0]
    assert logsumexp([-INF, -INF, 2.0]).item() == 2
    assert gradient(logsumexp, [-INF, -INF, 2.0]).tolist() == [0, 0, 1]
    assert gradient(entropy, [-INF, -INF]).tolist() == [0, 0]


@pytest.mark.parametrize(("shape", "axis"), [((0,), -1), ((3, 0), -1), ((0, 4), -1), ((0, 4), 0), ((2, 0, 3), 1)])
def test_SMX_10_empty_rows(shape, axis):
    x = np.zeros(shape)
    for function in (softmax, log_softmax):
        assert function(x, axis=axis).shape == shape
        assert gradient(lambda t, f=function: f(t, axis=axis), x, np.ones(shape)).shape == shape
    expected = x.sum(axis) + (-INF if shape[axis] == 0 else 0)
    np.testing.assert_array_equal(logsumexp(x, axis=axis).data, expected)
    assert gradient(lambda t: logsumexp(t, axis=axis), x, np.ones(expected.shape)).shape == shape


def test_SMX_11_weights_sum_to_one_along_the_axis_that_was_asked_for(rng):
    x = rng.normal(size=(2, 3, 4))
    for axis in (0, 1, 2, -1):
        weights = softmax(x, axis=axis).data
        np.testing.assert_allclose(weights.sum(axis), 1, rtol=1e-14)
        moved = np.moveaxis(x, axis, -1)
        expected = np.reshape([softmax_by_hand(row) for row in moved.reshape(-1, moved.shape[-1])], moved.shape)
        np.testing.assert_allclose(weights, np.moveaxis(expected, -1, axis), rtol=1e-13)
    np.testing.assert_array_equal(softmax(x).data, softmax(x, axis=-1).data)
    with pytest.raises(TypeError, match="needs an axis that is an integer, got None"):
        softmax(x, axis=None)


# --- blocks of scores: what tiled kernels got wrong, asked of every method -------------------------------------------


def test_TIL_05_scores_far_below_any_stand_in_for_minus_infinity(attend):
    for below in (-1e5, -1e4, -1e30, -3e38):
        k = np.float32(below) - np.float32([[0], [1], [2]]) if below > -1e6 else np.full((3, 1), below, np.float32)
        expected = [0.665241, 0.244728, 0.090031] if below > -1e6 else [1 / 3] * 3
        ours = attend(np.ones((1, 1), np.float32), k, np.eye(3, dtype=np.float32), scale=1.0)
        # float32 numbers near 1e5 lie 1/128 apart, those near 1e4 1/1024
        np.testing.assert_allclose(ours.output[0], expected, atol=5e-3)
        assert ours.output.sum() == pytest.approx(1, abs=1e-6)


def test_TIL_10_fully_masked_rows_in_backward(attend, rng):
    q, k, v = normal(rng, (2, 37, 5), (2, 37, 5), (2, 37, 3))
    keep = np.ones((37, 37), bool)
    keep[11] = False
    ours = attend(q, k, v, keep, is_causal=True, upstream=1)
    expected = attention_by_hand(q, k, v, keep=keep & np.tri(37, dtype=bool), grad=np.ones((2, 37, 3)))
    for name in ("output", "query", "key", "value"):
        np.testing.assert_allclose(getattr(ours, name), getattr(expected, name), rtol=1e-9, atol=1e-12)


# --- scale and dtype -------------------------------------------------------------------------------------------------


def test_SCL_01_no_scale_means_one_over_the_root_of_the_width(attend):
    q = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    k = [[0.7, 0.8], [0.9, 1.0], [1.1, 1.2]]
    v = [[1.0, 2], [3, 4], [5, 6]]
    expected = [[1, 2], [2.049457, 3.049457], [3.206586, 4.206586]]
    np.testing.assert_allclose(attend(q, k, v, is_causal=True).output, expected, atol=5e-7)
    np.testing.assert_allclose(attend(q, k, v, is_causal=True, scale=2**-0.5).output, expected, atol=5e-7)
    zero = attend(q, k, v, scale=0).output  # 0 is a number like any other: every weight is the same
    np.testing.assert_allclose(zero, [[3, 4]] * 3, rtol=1e-14)


@pytest.mark.parametrize("scale", [None, np.float64(0.125), np.float32(0.125), 0.125, np.int64(2), 2, np.sqrt(64)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_SCL_05_no_scale_widens(attend, rng, scale, dtype):
    arrays = normal(rng, (3, 4), (5, 4), (5, 2), dtype=dtype)
    ours = attend(*arrays, rng.normal(size=5).astype(dtype), scale=scale, upstream=1)
    for name in ("output", "query", "key", "value", "attn_mask"):
        assert getattr(ours, name).dtype == dtype
    steps = attention_steps(*arrays, scale=scale)
    assert {step.dtype for step in steps} == {np.dtype(dtype)}


@pytest.mark.parametrize("p", [0.0, 0.4])
def test_SCL_05_nor_do_masks_and_dropout(attend, rng, p):
    """A float64 mask is added in float64, but outputs keep the inputs' dtype."""
    q, k, v = normal(rng, (3, 4), (5, 4), (5, 2), dtype="float32")
    for mask in (rng.normal(size=(3, 5)), rng.random((3, 5)) < 0.8):
        ours = attend(q, k, v, mask, dropout_p=p, rng=1, is_causal=True, window=(2, 2), upstream=1)
        assert {getattr(ours, name).dtype for name in ("output", "query", "key", "value")} == {np.dtype("float32")}


def test_SCL_06_masked_weights_of_float16_are_exactly_zero(attend, rng):
    q, k = normal(rng, (4, 3), (4, 3), dtype="float16")
    weights = attend(q, k, np.eye(4, dtype=np.float16), causal_mask(4), upstream=1)
    np.testing.assert_array_equal(weights.output[~causal_mask(4)], 0)
    assert all(np.isfinite(x).all() for x in (weights.output, weights.query, weights.key, weights.value))


def test_SCL_07_the_lowest_float16_is_added_in_float32(attend):
    """D9: in float16, -65504 and -20 add up to -inf."""
    q, k, v = np.float16([[1]]), np.float16([[-20], [-21]]), np.eye(2, dtype=np.float16)
    ours = attend(q, k, v, np.full((1, 2), -65504, np.float16), scale=1.0)
    assert ours.output.dtype == np.float16
    np.testing.assert_allclose(ours.output, [[0.731, 0.269]], atol=1e-3)


def test_SCL_09_values_may_be_wider_or_narrower_than_keys(attend, rng):
    q, k, v = normal(rng, (8, 4, 1, 32), (8, 4, 36, 32), (8, 4, 36, 24))
    ours = attend(q, k, v)
    assert ours.output.shape == (8, 4, 1, 24)
    np.testing.assert_allclose(ours.output, attend(q, k, v, scale=32**-0.5).output, rtol=1e-12, atol=1e-14)
    expected = attention_by_hand(q[3, 2], k[3, 2], v[3, 2])
    np.testing.assert_allclose(ours.output[3, 2], expected.output, rtol=1e-12, atol=1e-14)


# --- gradients -------------------------------------------------------------------------------------------------------


def test_GRD_01_only_the_additive_mask_needs_a_gradient(method, rng):
    q, k, v, bias, upstream = normal(rng, (2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 2), (1, 1, 4, 5), (2, 3, 4, 2))
    leaf = Tensor(bias, requires_grad=True)
    scaled_dot_product_attention(q, k, v, leaf, method=method).backward(upstream)
    expected = attention_by_hand(q, k, v, bias=bias, grad=upstream).bias
    np.testing.assert_allclose(leaf.grad, expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(leaf.grad.sum(-1), 0, atol=1e-12)


@pytest.mark.parametrize("chosen", ["query", "key", "value", "attn_mask"])
def test_GRD_01_any_input_alone_may_need_one(method, rng, chosen):
    arrays = dict(zip(["query", "key", "value", "attn_mask"], normal(rng, (4, 6), (5, 6), (5, 2), (4, 5)), strict=True))
    tensors = {name: Tensor(x, requires_grad=name == chosen) for name, x in arrays.items()}
    upstream = rng.normal(size=(4, 2))
    scaled_dot_product_attention(**tensors, method=method).backward(upstream)
    arrays["bias"] = arrays.pop("attn_mask")
    expected = attention_by_hand(**arrays, grad=upstream)
    expected = expected.bias if chosen == "attn_mask" else getattr(expected, chosen)
    np.testing.assert_allclose(tensors.pop(chosen).grad, expected, rtol=1e-10, atol=1e-13)
    assert [t.grad for t in tensors.values()] == [None] * 3


def test_GRD_03_a_second_derivative_is_refused(method):
    """D10; out and its first derivative by the logistic function."""
    q = Tensor([[0.5]], requires_grad=True)
    out = scaled_dot_product_attention(q, [[0.0], [1]], [[0.0], [1]], scale=1.0, method=method)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        out.backward(create_graph=True)
    out.backward()
    assert out.item() == pytest.approx(0.622459, abs=5e-7)
    assert q.grad.item() == pytest.approx(0.235004, abs=5e-7)
    assert not isinstance(q.grad, Tensor)


def test_GRD_04_a_learnable_temperature_multiplies_the_query(method):
    """D11."""
    q, temperature = np.array([[0.5]]), Tensor(1.0, requires_grad=True)
    for scale in (temperature, Tensor(1.0), np.array(1.0), np.ones(1)):
        with pytest.raises(TypeError, match=r"a number, .* multiply the query by a learnable temperature"):
            scaled_dot_product_attention(q, [[0.0], [1]], [[0.0], [1]], scale=scale, method=method)
    scaled_dot_product_attention(temperature * q, [[0.0], [1]], [[0.0], [1]], scale=1.0, method=method).backward()
    assert temperature.grad.item() == pytest.approx(0.117502, abs=5e-7)


def test_GRD_05_softmax_has_its_gradient():
    np.testing.assert_allclose(gradient(softmax, [1.0, 2, 3], [1.0, 0, 0]), [0.081925, -0.022033, -0.059892], atol=5e-7)


@pytest.mark.parametrize("layout", ["transposed", "reversed", "repeated", "sliced"])
def test_GRD_07_upstream_gradients_of_any_memory_layout(method, rng, layout):
    arrays = normal(rng, (2, 4, 6), (2, 5, 6), (2, 5, 3))
    upstream = {
        "transposed": rng.normal(size=(3, 4, 2)).T,
        "reversed": rng.normal(size=(2, 4, 3))[::-1, :, ::-1],
        "repeated": np.broadcast_to(rng.normal(size=(4, 1)), (2, 4, 3)),
        "sliced": rng.normal(size=(2, 4, 6))[..., ::2],
    }[layout]
    results = []
    for grad in (upstream, upstream.copy(order="C")):
        leaves = [Tensor(x, requires_grad=True) for x in arrays]
        scaled_dot_product_attention(*leaves, method=method).backward(grad)
        results.append([leaf.grad for leaf in leaves])
    for odd, packed in zip(*results, strict=True):
        np.testing.assert_allclose(odd, packed, rtol=1e-12, atol=1e-15)
    leaf = Tensor(arrays[0], requires_grad=True)
    out = scaled_dot_product_attention(leaf, *arrays[1:], method=method)
    (out.permute_dims((0, 2, 1)) * upstream.transpose(0, 2, 1)).sum().backward()
    np.testing.assert_allclose(leaf.grad, results[0][0], rtol=1e-12, atol=1e-15)


# --- dropout ---------------------------------------------------------------------------------------------------------


def test_DRP_01_no_dropout_unless_asked_for(attend, rng):
    """The function drops exactly what dropout_p says; there is no training flag to forget (modules have one)."""
    arrays = normal(rng, (3, 4), (5, 4), (5, 2))
    np.testing.assert_array_equal(attend(*arrays).output, attend(*arrays, dropout_p=0.0).output)
    assert "pass 0 when evaluating" in scaled_dot_product_attention.__doc__


def test_DRP_03_backward_uses_the_full_weights_where_they_belong(method, rng):
    q, k, v, upstream = normal(rng, (4, 3), (6, 3), (6, 2), (4, 2))
    attention = lambda *x: scaled_dot_product_attention(*x, dropout_p=0.3, rng=5, method=method)  # noqa: E731
    assert gradcheck(attention, q, k, v)
    full = attention_by_hand(q, k, v).weights
    dropped = scaled_dot_product_attention(q, k, np.eye(6), dropout_p=0.3, rng=5, method=method).data
    m = np.divide(dropped, full)
    assert set(np.round(m, 12).ravel()) == {0, round(1 / 0.7, 12)}
    dp = upstream @ v.T
    ds = full * (m * dp - (full * m * dp).sum(-1, keepdims=True))
    leaf = Tensor(q, requires_grad=True)
    attention(leaf, k, v).backward(upstream)
    np.testing.assert_allclose(leaf.grad, ds @ k / math.sqrt(3), rtol=1e-10, atol=1e-13)


def test_DRP_05_returned_weights_are_those_before_dropout(method, rng):
    """D12; the weights in use are larger by 1 / (1 - p)."""
    q, k, v = normal(rng, (30, 4), (20, 4), (20, 2))
    steps = attention_steps(q, k, v, dropout_p=0.2, rng=3)
    np.testing.assert_allclose(steps.weights.data.sum(-1), 1, rtol=1e-13)
    used = scaled_dot_product_attention(q, k, np.eye(20), dropout_p=0.2, rng=3, method=method).data
    kept = used != 0
    np.testing.assert_allclose(used[kept], 1.25 * steps.weights.data[kept], rtol=1e-12)
    np.testing.assert_allclose(steps.output.data, used @ v, rtol=1e-11, atol=1e-13)
    assert "before dropout" in tinyattn.AttentionSteps.__doc__


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_DRP_06_p_is_the_probability_to_drop(p):
    """10,000 weights: five standard deviations are 5 * sqrt(p (1 - p) / 10,000)."""
    ones = tinyattn.dropout(np.ones(10_000), p=p, seed=1).data
    assert np.mean(ones == 0) == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 10_000))
    np.testing.assert_allclose(ones[ones != 0], 1 / (1 - p), rtol=1e-14)
    assert (tinyattn.dropout(np.ones((3, 5)), p=0, seed=1).data == 1).all()
    assert (tinyattn.dropout(np.ones((3, 5)), p=1, seed=1).data == 0).all()


def test_DRP_06_rows_columns_heads_and_seeds_are_independent():
    table = tinyattn.dropout(np.ones((2, 3, 80, 90)), p=0.5, seed=2).data != 0
    spread = 5 * math.sqrt(0.25 / 80)
    assert np.abs(table.mean(-1) - 0.5).max() < spread
    assert np.abs(table.mean(-2) - 0.5).max() < spread
    other = tinyattn.dropout(np.ones((2, 3, 80, 90)), p=0.5, seed=3).data != 0
    flat = [*table.reshape(6, -1), *other.reshape(6, -1)]
    for i, a in enumerate(flat):
        for b in flat[:i]:
            assert np.mean(a == b) == pytest.approx(0.5, abs=5 * math.sqrt(0.25 / a.size))
    first, second = table[0, 0, :-1], table[0, 0, 1:]
    assert np.mean(first == second) == pytest.approx(0.5, abs=5 * math.sqrt(0.25 / first.size))


def test_DRP_07_a_seed_repeats_and_no_seed_does_not(method, rng):
    q, k, v = normal(rng, (8, 4), (9, 4), (9, 5))

    def run(seed):
        return scaled_dot_product_attention(q, k, v, dropout_p=0.5, rng=seed, method=method).data

    np.testing.assert_array_equal(run(7), run(7))
    np.testing.assert_array_equal(run(np.random.default_rng(7)), run(np.random.default_rng(7)))
    for a, b in ((run(7), run(8)), (run(None), run(None))):
        assert not np.array_equal(a, b)
    generator = np.random.default_rng(7)
    assert not np.array_equal(run(generator), run(generator))
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    run(None)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_DRP_07_every_method_drops_the_same_weights(method, rng):
    q, k = normal(rng, (2, 70, 6), (2, 130, 6))
    options = {"dropout_p": 0.4, "rng": 11, "is_causal": True}
    ours = scaled_dot_product_attention(q, k, np.eye(130), method=method, **options).data
    steps = scaled_dot_product_attention(q, k, np.eye(130), method="steps", **options).data
    np.testing.assert_array_equal(ours == 0, steps == 0)
    np.testing.assert_allclose(ours, steps, rtol=1e-11)


# --- grouped heads and windows ---------------------------------------------------------------------------------------


def test_HED_02_heads_are_repeated_not_tiled(attend):
    v = np.array([10.0, 20]).reshape(2, 1, 1)
    ours = attend(np.zeros((4, 1, 3)), np.zeros((2, 1, 3)), v, enable_gqa=True)
    assert ours.output.ravel().tolist() == [10, 10, 20, 20]


@pytest.mark.parametrize(("heads", "key_heads", "value_heads"), [(6, 2, 2), (6, 3, 2), (6, 1, 6), (4, 4, 4)])
def test_HED_02_gradients_of_a_shared_head_add_up(attend, rng, heads, key_heads, value_heads):
    q, k, v, upstream = normal(rng, (2, heads, 4, 3), (2, key_heads, 5, 3), (2, value_heads, 5, 2), (2, heads, 4, 2))
    ours = attend(q, k, v, enable_gqa=True, is_causal=True, upstream=upstream)
    full_k, full_v = np.repeat(k, heads // key_heads, 1), np.repeat(v, heads // value_heads, 1)
    expected = attention_by_hand(q, full_k, full_v, keep=np.tri(4, 5, dtype=bool), grad=upstream)
    np.testing.assert_allclose(ours.output, expected.output, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.query, expected.query, rtol=1e-10, atol=1e-13)
    for x, full, ours_x in ((k, expected.key, ours.key), (v, expected.value, ours.value)):
        summed = full.reshape(2, x.shape[1], -1, *x.shape[2:]).sum(2)
        np.testing.assert_allclose(ours_x, summed, rtol=1e-10, atol=1e-13)


def test_HED_03_unequal_heads_raise_with_both_shapes(attend, rng):
    q, k = normal(rng, (3, 5, 2), (4, 5, 2))
    with pytest.raises(ValueError, match=r"\(3, 5, 2\).*\(4, 5, 2\)"):
        attend(q, k, k)
    for enable in (3, 4):
        with pytest.raises(ValueError, match="multiple of the key's, got"):
            attend(q, k[:2] if enable == 3 else k, k, enable_gqa=True)
    with pytest.raises(ValueError, match=r"multiple of the value's, got \(3, 5, 2\) and \(2, 5, 2\)"):
        attend(q, k[:3], k[:2], enable_gqa=True)
    with pytest.raises(ValueError, match=r"needs a head axis, got query \(5, 2\) and key \(5, 2\)"):
        attend(q[0], k[0], k[0], enable_gqa=True)


def test_VAR_01_a_window_counts_both_ends(attend):
    """D13: three tokens, the query's own among them, are left=2; left=3 keeps four."""
    inputs = zeros_and_values(5, 5, range(5))
    assert attend(*inputs, is_causal=True, window=(2, 0)).output.ravel().tolist() == [0, 0.5, 1, 2, 3]
    assert attend(*inputs, is_causal=True, window=(2, None)).output.ravel().tolist() == [0, 0.5, 1, 2, 3]
    assert attend(*inputs, window=(3, 0)).output.ravel().tolist() == [0, 0.5, 1, 1.5, 2.5]


def test_VAR_02_a_window_needs_no_mask(attend):
    inputs = zeros_and_values(5, 5, range(5))
    expected = [0.5, 1, 2, 3, 3.5]
    assert attend(*inputs, window=(1, 1)).output.ravel().tolist() == expected
    assert attend(*inputs, window_mask(5, 5, 1, 1)).output.ravel().tolist() == expected
    assert attend(*inputs, np.ones((5, 5), bool), window=(1, 1)).output.ravel().tolist() == expected


def test_VAR_09_a_window_of_zero_is_self_alone_and_never_nothing(attend):
    """D13."""
    inputs = zeros_and_values(5, 5, range(5))
    assert attend(*inputs, window=(0, 0)).output.ravel().tolist() == [0, 1, 2, 3, 4]
    for no_limit in (None, (None, None)):
        np.testing.assert_allclose(attend(*inputs, window=no_limit).output, 2, rtol=1e-14)
    for window in ((-1, 0), (0, -2)):
        with pytest.raises(ValueError, match="must not be negative, got -"):
            attend(*inputs, window=window)
    for window in (0, -1, 3, (1,), (1, 2, 3), "11"):
        with pytest.raises(ValueError, match=r"a window is a pair \(left, right\) of distances in keys or None, got"):
            attend(*inputs, window=window)
    with pytest.raises(TypeError, match="left must be an integer, got float"):
        attend(*inputs, window=(1.5, 0))


@pytest.mark.parametrize("align", ["upper-left", "lower-right"])
@pytest.mark.parametrize("window", [(5, 0), (2, 3), (None, 1), (0, None), (50, 50)])
@pytest.mark.parametrize(("L", "S"), [(37, 37), (5, 37), (37, 5)])
def test_VAR_11_a_window_equals_its_band_mask(attend, rng, window, align, L, S):
    q, k, v, upstream = normal(rng, (L, 4), (S, 4), (S, 3), (L, 3))
    distance = np.arange(S) - np.arange(L)[:, None] - (S - L if align == "lower-right" else 0)
    left, right = (99 if side is None else side for side in window)
    keep = (distance >= -left) & (distance <= right)
    ours = attend(q, k, v, window=window, align=align, upstream=upstream)
    expected = attention_by_hand(q, k, v, keep=keep, grad=upstream)
    for name in ("output", "query", "key", "value"):
        np.testing.assert_allclose(getattr(ours, name), getattr(expected, name), rtol=1e-9, atol=1e-12)


# --- empty and 0-d ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "key", "value", "output"),
    [
        ((0, 10, 8, 6), (0, 10, 16, 6), (0, 10, 16, 5), (0, 10, 8, 5)),
        ((2, 0, 3, 6), (2, 0, 4, 6), (2, 0, 4, 5), (2, 0, 3, 5)),
        ((2, 0, 6), (2, 4, 6), (2, 4, 5), (2, 0, 5)),
        ((2, 3, 6), (2, 0, 6), (2, 0, 5), (2, 3, 5)),
        ((2, 3, 6), (2, 4, 6), (2, 4, 0), (2, 3, 0)),
        ((0, 6), (0, 6), (0, 5), (0, 5)),
    ],
)
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"window": (1, 1)}, {"dropout_p": 0.5, "rng": 0}])
def test_EMP_01_any_axis_may_be_empty(attend, query, key, value, output, options):
    """With no key at all every row is an empty average: zeros (D1)."""
    ours = attend(np.ones(query), np.ones(key), np.ones(value), upstream=1, **options)
    assert ours.output.shape == output
    assert (ours.query.shape, ours.key.shape, ours.value.shape) == (query, key, value)
    if key[-2] == 0:
        np.testing.assert_array_equal(ours.output, 0)
    L, S = query[-2], key[-2]
    for mask in (np.ones((L, S), bool), np.zeros((L, S))):
        masked = attend(np.ones(query), np.ones(key), np.ones(value), mask, upstream=1, **options)
        assert masked.output.shape == output


def test_EMP_04_a_row_is_needed_and_a_width(attend):
    """D21."""
    for function in (softmax, log_softmax, logsumexp, entropy):
        for zero_d in (Tensor(3.0), 3.0, np.float64(3), np.array(3.0)):
            with pytest.raises(ValueError, match=r"axis -1 needs a tensor that has this axis, got shape \(\)"):
                function(zero_d)
    with pytest.raises(ValueError, match=r"width E of at least 1, got query \(3, 0\) and key \(4, 0\)"):
        attend(np.ones((3, 0)), np.ones((4, 0)), np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"query \(..., L, E\) and key \(..., S, E\), got \(3,\) and \(3,\)"):
        attend(np.ones(3), np.ones(3), np.ones(3))
