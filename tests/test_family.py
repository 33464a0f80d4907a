"""Other scores, linear attention, many heads and the cache: against loops, numeric gradients and real bug reports."""

import math
import tracemalloc

import numpy as np
import pytest
import stand_in_cupy

from tinyattn import Tensor, gradcheck, nn, scaled_dot_product_attention
from tinyattn.attention.linear import CHUNK, linear_attention
from tinyattn.attention.multihead import KVCache, merge_heads, multi_head_attention, split_heads
from tinyattn.attention.scoring import additive_attention, additive_scores, luong_attention, luong_scores, qk_norm

B, L, S, E, EK, EV, A = 2, 3, 5, 4, 6, 7, 8


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def normals(rng, *shapes):
    return [rng.normal(size=shape) for shape in shapes]


# --- scores ----------------------------------------------------------------------------------------------------------


def test_additive_scores_are_the_formula(rng):
    query, key, wq, wk, v = normals(rng, (B, L, E), (B, S, EK), (A, E), (A, EK), (A,))
    expected = np.zeros((B, L, S))
    for b, i, j in np.ndindex(B, L, S):
        expected[b, i, j] = v @ np.tanh(wq @ query[b, i] + wk @ key[b, j])
    np.testing.assert_allclose(additive_scores(query, key, wq, wk, v).numpy(), expected, rtol=1e-12, atol=1e-14)


def test_luong_scores_are_the_formula(rng):
    query, key, weight = normals(rng, (B, L, E), (B, S, EK), (E, EK))
    expected = np.einsum("ble,ef,bsf->bls", query, weight, key)
    np.testing.assert_allclose(luong_scores(query, key, weight).numpy(), expected, rtol=1e-12, atol=1e-12)
    dot = luong_scores(query, key[..., :E])
    np.testing.assert_allclose(dot.numpy(), np.einsum("ble,bse->bls", query, key[..., :E]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients_of_every_score(rng, is_causal):
    query, key, value, wq, wk, v, w = normals(
        rng, (B, L, E), (B, S, EK), (B, S, EV), (A, E), (A, EK), (A,), (E, EK)
    )  # fmt: skip
    mask = rng.random((B, L, S)) < 0.7
    mask[0, 1] = False
    assert gradcheck(lambda *x: additive_attention(*x, mask, is_causal), query, key, value, wq, wk, v)
    assert gradcheck(lambda *x: luong_attention(*x, mask, is_causal, score="general"), query, key, value, w)
    assert gradcheck(lambda *x: luong_attention(*x, None, mask, is_causal), query, key[..., :E], value)


@pytest.mark.parametrize("attend", [
    lambda q, k, v, mask, rng: additive_attention(q, k, v, *normals(rng, (A, E), (A, E), (A,)), mask),
    lambda q, k, v, mask, rng: luong_attention(q, k, v, None, mask),
    lambda q, k, v, mask, rng: luong_attention(q, k, v, rng.normal(size=(E, E)), mask, score="general"),
], ids=["additive", "dot", "general"])  # fmt: skip
def test_VAR_06_no_score_forgets_the_padding_mask(rng, attend):
    query, key, value = normals(rng, (2, 1, E), (2, 4, E), (2, 4, EV))
    mask = np.arange(4) < np.array([2, 0])[:, None, None]
    output = attend(0 * query, 0 * key, value, mask, rng).numpy()
    np.testing.assert_allclose(output[0, 0], value[0, :2].mean(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(output[1, 0], 0)
    moved = value.copy()
    moved[0, 2:] += 100
    np.testing.assert_array_equal(attend(query, key, value, mask, np.random.default_rng(1)).numpy(),
                                  attend(query, key, moved, mask, np.random.default_rng(1)).numpy())  # fmt: skip


def test_wrong_shapes_and_options_of_scores_are_refused(rng):
    query, key, value, wq, wk, v = normals(rng, (L, E), (S, EK), (S, EV), (A, E), (A, EK), (A,))
    with pytest.raises(ValueError, match=r"\(A, Eq\).*\(8, 6\)"):
        additive_attention(query, key, value, wk, wk, v)
    with pytest.raises(ValueError, match=r"\(Eq, Ek\), got \(8, 4\)"):
        luong_attention(query, key, value, wq, score="general")
    with pytest.raises(ValueError, match="'dot' or 'general', got 'cosine'"):
        luong_attention(query, key, value, score="cosine")
    with pytest.raises(ValueError, match="needs a weight"):
        luong_attention(query, key, value, score="general")


def test_HED_05_qk_norm_is_per_head(rng):
    query, key = normals(rng, (1, 2, 3, 4), (1, 2, 5, 4))
    for norm, length in (("l2", 1.0), ("rms", 2.0)):
        for x in qk_norm(query, key, norm=norm):
            np.testing.assert_allclose(np.linalg.norm(x.numpy(), axis=-1), length, rtol=1e-9)


def test_HED_07_the_product_of_normalised_vectors_carries_the_norms_factor():
    ones = np.ones((2, 4))
    for norm, product in (("l2", 1.0), ("rms", 4.0)):
        query, key = qk_norm(ones, ones, norm=norm)
        np.testing.assert_allclose((query @ key.T).numpy(), product, rtol=1e-9)


def test_qk_norm_has_gradients_also_at_zero_and_for_the_temperature(rng):
    query, key, temperature = normals(rng, (3, L, E), (3, S, E), (3, 1, 1))
    for norm in ("l2", "rms"):
        assert gradcheck(lambda q, k, t, norm=norm: (lambda a: a[0] @ a[1].mT)(qk_norm(q, k, t, norm=norm)),
                         query, key, temperature)  # fmt: skip
    zero = Tensor(np.zeros((1, 3)), requires_grad=True)
    unit = qk_norm(zero, np.ones((1, 3)))[0]
    unit.sum().backward()
    np.testing.assert_array_equal(unit.numpy(), 0)
    np.testing.assert_array_equal(zero.grad, 0)
    with pytest.raises(ValueError, match="'l2' or 'rms', got 'l1'"):
        qk_norm(query, key, norm="l1")


# --- linear attention ------------------------------------------------------------------------------------------------


def linear_by_loops(query, key, value, is_causal):
    def phi(x):
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    output = np.zeros((*query.shape[:-1], value.shape[-1]))
    for index in np.ndindex(query.shape[:-1]):
        batch, i = index[:-1], index[-1]
        seen = slice(0, i + 1) if is_causal else slice(None)
        weights = phi(key[batch][seen]) @ phi(query[batch][i])
        output[index] = weights @ value[batch][seen] / weights.sum()
    return output


@pytest.mark.parametrize("length", [1, 5, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 3])
@pytest.mark.parametrize("is_causal", [False, True])
def test_linear_attention_is_its_definition(rng, length, is_causal):
    query, key, value = normals(rng, (B, length, E), (B, length, E), (B, length, EV))
    got = linear_attention(query, key, value, is_causal).numpy()
    np.testing.assert_allclose(got, linear_by_loops(query, key, value, is_causal), rtol=1e-9, atol=1e-12)


def test_gradients_of_linear_attention(rng, monkeypatch):
    monkeypatch.setattr("tinyattn.attention.linear.CHUNK", 4)
    query, key, value = normals(rng, (B, 9, E), (B, 9, E), (B, 9, EV))
    assert gradcheck(linear_attention, query, key, value)
    assert gradcheck(lambda *x: linear_attention(*x, is_causal=True), query, key, value)
    assert gradcheck(lambda *x: linear_attention(*x, feature_map=lambda x: x * x), query[:, :L], key, value)


def test_VAR_12_linear_attention_does_not_overflow_within_its_promised_range(rng):
    value = rng.normal(size=(3, EV)).astype(np.float32)
    for size, is_causal in ((1e20, False), (1e30, False), (-60, False), (1e15, True), (-60, True)):
        x = np.full((3, E), size, np.float32)
        query = Tensor(x, requires_grad=True)
        output = linear_attention(query, x, value, is_causal)
        output.sum().backward()
        assert np.isfinite(query.grad).all()
        np.testing.assert_allclose(output.numpy()[-1], value.mean(axis=0), rtol=1e-5, atol=1e-6)
        assert output.dtype == np.float32


def test_causal_linear_attention_reads_no_later_key(rng):
    query, key, value = normals(rng, (150, E), (150, E), (150, EV))
    before = linear_attention(query, key, value, True).numpy()
    key[100:], value[100:] = 1e6, 1e6
    np.testing.assert_array_equal(linear_attention(query, key, value, True).numpy()[:100], before[:100])


@pytest.mark.parametrize("is_causal", [False, True])
def test_memory_of_linear_attention_grows_with_length_and_not_its_square(rng, is_causal):
    def peak(length):
        q, k, v = (Tensor(x, requires_grad=True) for x in normals(rng, (length, E), (length, E), (length, EV)))
        tracemalloc.start()
        linear_attention(q, k, v, is_causal).sum().backward()
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(8192) < 4.5 * peak(2048)


def test_linear_attention_refuses(rng):
    query, key, value = normals(rng, (L, E), (S, E), (S, EV))
    with pytest.raises(ValueError, match=r"\(3, 4\), \(5, 4\) and \(3, 4\)"):
        linear_attention(query, key, query)
    with pytest.raises(ValueError, match=r"as many queries as keys, got \(3, 4\) and \(5, 4\)"):
        linear_attention(query, key, value, is_causal=True)
    with pytest.raises(ValueError, match=r"at most 1e-6, got 0\.1"):
        linear_attention(query, key, value, eps=0.1)


# --- heads -----------------------------------------------------------------------------------------------------------


def test_HED_01_heads_take_columns_and_not_rows_of_memory():
    x = np.arange(1, 9).reshape(1, 2, 4) / 8
    got = multi_head_attention(x, x, x, 2).numpy()
    expected = [[[0.391549, 0.516549, 0.663364, 0.788364], [0.434598, 0.559598, 0.704957, 0.829957]]]
    np.testing.assert_allclose(got, expected, atol=5e-7)
    np.testing.assert_array_equal(split_heads(x, 2).numpy()[0, 1], x[0, :, 2:])
    np.testing.assert_array_equal(merge_heads(split_heads(x, 2)).numpy(), x)


def test_heads_attend_to_their_own_columns_alone(rng):
    query, key, value = normals(rng, (B, L, 12), (B, S, 12), (B, S, 15))
    got = multi_head_attention(query, key, value, 3).numpy()
    for h in range(3):
        own = slice(4 * h, 4 * h + 4)
        expected = scaled_dot_product_attention(query[..., own], key[..., own], value[..., 5 * h : 5 * h + 5]).numpy()
        np.testing.assert_allclose(got[..., 5 * h : 5 * h + 5], expected, rtol=1e-12, atol=1e-14)


def test_grouped_heads_share_key_and_value(rng):
    query, key, value = normals(rng, (B, L, 24), (B, S, 8), (B, S, 10))
    got = multi_head_attention(query, key, value, 6, 2).numpy()
    for h in range(6):
        kv = h // 3
        expected = scaled_dot_product_attention(
            query[..., 4 * h : 4 * h + 4], key[..., 4 * kv : 4 * kv + 4], value[..., 5 * kv : 5 * kv + 5]
        ).numpy()
        np.testing.assert_allclose(got[..., 5 * h : 5 * h + 5], expected, rtol=1e-12, atol=1e-14)


def test_gradients_of_many_heads(rng):
    query, key, value = normals(rng, (B, L, 12), (B, S, 6), (B, S, 10))
    assert gradcheck(lambda *x: multi_head_attention(*x, 4, 2, is_causal=True), query, key, value)


@pytest.mark.parametrize("heads", [0, 5, -2])
def test_widths_that_heads_do_not_divide_are_refused(heads):
    with pytest.raises(ValueError, match=r"got \(3, 12\)"):
        split_heads(np.zeros((3, 12)), heads)


@pytest.mark.parametrize("chunks", [[1] * 7, [3, 4], [6, 1], [1, 6]], ids=str)
def test_a_cache_fed_in_any_chunks_equals_the_full_causal_pass(rng, chunks):
    query, key, value = normals(rng, (B, 7, 12), (B, 7, 6), (B, 7, 10))
    full = multi_head_attention(query, key, value, 4, 2, is_causal=True).numpy()
    cache, ends = KVCache(), np.cumsum(chunks)[:-1]
    parts = [
        multi_head_attention(q, k, v, 4, 2, is_causal=True, cache=cache).numpy()
        for q, k, v in zip(*(np.split(x, ends, axis=1) for x in (query, key, value)), strict=True)
    ]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), full, rtol=1e-12, atol=1e-14)
    assert len(cache) == 7


def test_SCL_03_the_scale_of_a_module_is_that_of_its_heads():
    assert nn.MultiHeadAttention(64, 4, rng=0).scale == 16**-0.5


def test_VAR_10_weights_sum_to_one_over_keys(rng):
    query, key = normals(rng, (B, L, E), (B, S, EK))
    wq, wk, v, w = normals(rng, (A, E), (A, EK), (A,), (E, EK))
    ones = np.ones((B, S, 1))
    two = np.ones((B, S, 2))
    for output in (
        additive_attention(query, key, ones, wq, wk, v),
        luong_attention(query, key, ones, w, score="general"),
        linear_attention(query, key[..., :E], ones),
        multi_head_attention(query, key[..., :E], two, 2),
    ):
        np.testing.assert_allclose(output.numpy(), 1, rtol=1e-12)


def test_DRP_01_a_module_drops_nothing_in_evaluation(rng):
    x = rng.normal(size=(B, L, 12)).astype(np.float32)
    module, plain = nn.MultiHeadAttention(12, 3, dropout=0.8, rng=0), nn.MultiHeadAttention(12, 3, rng=0)
    assert not np.array_equal(module(x).numpy(), module(x).numpy())
    module.eval()
    np.testing.assert_array_equal(module(x).numpy(), module(x).numpy())
    np.testing.assert_array_equal(module(x).numpy(), plain(x).numpy())
    layer = nn.Dropout(0.8, rng=0)
    assert (layer(x).numpy() == 0).mean() > 0.6
    np.testing.assert_array_equal(layer.eval()(Tensor(x)).numpy(), x)


def test_qk_norm_in_a_module_learns_one_temperature_for_each_head(rng):
    module = nn.MultiHeadAttention(12, 3, qk_norm="l2", rng=0)
    assert module.temperature.shape == (3, 1, 1)
    assert module.temperature.numpy() == pytest.approx(math.sqrt(4))
    module(rng.normal(size=(B, L, 12)).astype(np.float32)).sum().backward()
    assert np.all(module.temperature.grad != 0)


# --- devices ---------------------------------------------------------------------------------------------------------


def family(device):
    """{name: function of arrays q, k, v, w to (output, gradients)} on a device."""

    def on_device(function):
        def run(*arrays):
            tensors = [Tensor(x, requires_grad=True, device=device) for x in arrays]
            output = function(*tensors)
            assert output.device == device
            (output * output).sum().backward()
            return [output.numpy(), *(Tensor(t.grad).numpy() for t in tensors if t.grad is not None)]

        return run

    def there(module, dtype):
        for p in module.parameters():
            p.data = p.data.astype(dtype)
        return module.to(device)

    def decoder(q, k, v, w):
        model = nn.TransformerDecoder(11, 12, 3, 1, 8, rng=3, positions="rotary", qk_norm="l2")
        return there(model, q.dtype)(np.arange(6)[None]) * q.sum()

    def gru(q, k, v, w):
        return there(nn.GRU(12, 5, rng=1), q.dtype)(q)

    return {
        name: on_device(function)
        for name, function in {
            "additive": lambda q, k, v, w: additive_attention(q, k, v, w, w, w[0]),
            "general": lambda q, k, v, w: luong_attention(q, k, v, w, score="general", is_causal=True),
            "qk_norm": lambda q, k, v, w: scaled_dot_product_attention(*qk_norm(q, k, 3.0), v, scale=1),
            "linear": lambda q, k, v, w: linear_attention(q, k, v),
            "multi_head": lambda q, k, v, w: multi_head_attention(q @ w, k, v, 3),
            "decoder": decoder,
            "gru": gru,
            "cross_entropy": lambda q, k, v, w: nn.cross_entropy(q, [[1, -100, 3], [4, 5, 0]]),
        }.items()
    }


@pytest.mark.parametrize("name", family("cpu"))
def test_the_family_is_the_same_on_every_device(rng, device, name):
    arrays = [x.astype(np.float32) for x in normals(rng, (B, 3, 12), (B, 5, 12), (B, 5, 12), (12, 12))]
    for got, expected in zip(family(device)[name](*arrays), family("cpu")[name](*arrays), strict=True):
        np.testing.assert_allclose(
            got, expected, rtol=2e-5, atol=2e-5 * np.abs(expected).max()
        )  # float32, other orders


@pytest.mark.parametrize("name", family("cpu"))
def test_the_family_turns_no_cupy_array_into_numpys(rng, monkeypatch, name):
    """On the stand-in for CuPy, in float64, for which there is no kernel of ours."""
    stand_in_cupy.install(monkeypatch)
    arrays = normals(rng, (B, 3, 12), (B, 5, 12), (B, 5, 12), (12, 12))
    for got, expected in zip(family("cuda")[name](*arrays), family("cpu")[name](*arrays), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
