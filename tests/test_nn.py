"""The modules around attention: against stored PyTorch results, numeric gradients, and their own promises."""

from pathlib import Path

import numpy as np
import pytest

from tinyattn import Tensor, gradcheck, nn, no_grad
from tinyattn.attention.multihead import KVCache

B, L, S, E, H = 2, 5, 7, 12, 3


@pytest.fixture(scope="module")
def oracle():
    """Of a case, {name: array} of what PyTorch gave."""
    with np.load(Path(__file__).parent / "oracles" / "family.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    return lambda case: {n.removeprefix(case + "/"): x for n, x in arrays.items() if n.startswith(case + "/")}


def agree(function, case, *names):
    """function of the named inputs gives the stored result, and backward the stored gradients."""
    inputs = {n: Tensor(case[n], requires_grad=f"grad_{n}" in case) for n in names}
    result = function(**inputs)
    np.testing.assert_allclose(result.numpy(), case["result"], rtol=1e-9, atol=1e-12)
    result.backward(case["upstream"])
    for name, x in inputs.items():
        if x.requires_grad:
            np.testing.assert_allclose(x.grad, case[f"grad_{name}"], rtol=1e-9, atol=1e-12, err_msg=name)


def test_layer_norm_agrees_with_pytorch(oracle):
    agree(nn.layer_norm, oracle("layer_norm"), "x", "weight", "bias")


def test_rms_norm_agrees_with_pytorch(oracle):
    agree(nn.rms_norm, oracle("rms_norm"), "x", "weight")


def test_cross_entropy_agrees_with_pytorch(oracle):
    case = oracle("cross_entropy")
    agree(lambda logits: nn.cross_entropy(logits, case["targets"]), case, "logits")


def test_rotary_agrees_with_pytorch(oracle):
    case = oracle("rotary")
    agree(lambda x: nn.rotary(x, case["positions"]), case, "x")


def test_gru_agrees_with_pytorch(oracle):
    case = oracle("gru")

    def run(x, **weights):
        gru = nn.GRU(E, 4, rng=0)
        vars(gru.cell).update(weights)
        return gru(x)

    agree(run, case, "x", "weight_ih", "weight_hh", "bias_ih", "bias_hh")


def attention_like(in_proj_weight, in_proj_bias, out_weight, out_bias):
    """A MultiHeadAttention whose three projections are slices of PyTorch's packed one."""
    module = nn.MultiHeadAttention(E, H, rng=0)
    for i, projection in enumerate((module.q_proj, module.k_proj, module.v_proj)):
        part = slice(i * E, (i + 1) * E)
        projection.weight, projection.bias = in_proj_weight[part], in_proj_bias[part]
    module.out_proj.weight, module.out_proj.bias = out_weight, out_bias
    return module


PROJECTIONS = ("in_proj_weight", "in_proj_bias", "out_weight", "out_bias")


def test_self_attention_agrees_with_pytorch(oracle):
    def run(x, **parts):
        return attention_like(**parts)(x, is_causal=True)

    agree(run, oracle("self_attention"), "x", *PROJECTIONS)


def test_cross_attention_agrees_with_pytorch(oracle):
    case = oracle("cross_attention")

    def run(query, memory, **parts):
        return attention_like(**parts)(query, memory, attn_mask=case["keep"])

    agree(run, case, "query", "memory", *PROJECTIONS)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (nn.linear, [(2, 3, 4), (5, 4), (5,)]),
        (lambda x, w: nn.linear(x, w, None), [(4,), (5, 4)]),
        (nn.layer_norm, [(2, 3, 4), (4,), (4,)]),
        (nn.rms_norm, [(2, 3, 4), (4,)]),
        (nn.rotary, [(2, 3, 4)]),
        (lambda x: nn.cross_entropy(x, [[1, -100, 4], [0, 2, 2]]), [(2, 3, 5)]),
    ],
    ids=["linear", "linear without bias", "layer_norm", "rms_norm", "rotary", "cross_entropy"],
)
def test_gradients(function, shapes):
    rng = np.random.default_rng(3)
    assert gradcheck(function, *[rng.normal(size=shape) for shape in shapes])


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (nn.linear, [(300, 2, 40), (5, 40), (5,)]),
        (nn.layer_norm, [(2, 40), (40,), (40,)]),
        (nn.rms_norm, [(2, 40), (40,)]),
    ],
    ids=["linear", "layer_norm", "rms_norm"],
)
def test_float16_is_accumulated_in_float32(function, shapes):
    """The squares of these numbers overflow float16, and 600 rows of gradients added in it lose their last digits."""
    rng = np.random.default_rng(4)
    arrays = [(rng.normal(size=shape) * (500 if i == 0 else 1)).astype(np.float16) for i, shape in enumerate(shapes)]
    results = []
    for dtype in (np.float16, np.float64):
        tensors = [Tensor(x, requires_grad=True, dtype=dtype) for x in arrays]
        output = function(*tensors)
        output.backward(np.full(output.shape, 0.25))
        assert output.dtype == dtype
        results.append([output.numpy(), *(t.grad for t in tensors)])
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-3, atol=1e-3 * np.abs(expected).max())


def test_cross_entropy_of_ignored_targets_alone_is_zero_with_zero_gradient():
    logits = Tensor(np.full((2, 3), np.inf), requires_grad=True)
    with np.errstate(invalid="ignore"):
        loss = nn.cross_entropy(logits, [-100, -100])
    assert loss.item() == 0


def test_cross_entropy_survives_logits_that_overflow_exp():
    logits = Tensor([[1e4, 0.0, -1e4]], dtype=np.float32, requires_grad=True)
    loss = nn.cross_entropy(logits, [2])
    loss.backward()
    assert loss.item() == 2e4
    np.testing.assert_array_equal(logits.grad, [[1, 0, -1]])


@pytest.mark.parametrize(
    ("targets", "error", "words"),
    [
        ([0.0, 1.0], TypeError, "float64"),
        ([0, 1, 2], ValueError, r"\(2, 5\) and \(3,\)"),
        ([0, 5], ValueError, "from 0 to 4, got 5"),
        ([-1, 0], ValueError, "from 0 to 4, got -1"),
    ],
)
def test_cross_entropy_refuses(targets, error, words):
    with pytest.raises(error, match=words):
        nn.cross_entropy(np.zeros((2, 5)), targets)


def test_rotary_products_depend_on_the_distance_alone():
    rng = np.random.default_rng(5)
    query, key = rng.normal(size=(1, 8)), rng.normal(size=(1, 8))

    def product(i, j):
        return (nn.rotary(query, [i]) @ nn.rotary(key, [j]).T).item()

    assert product(3, 7) == pytest.approx(product(103, 107), rel=1e-9)
    assert product(3, 7) != pytest.approx(product(3, 8), rel=1e-3)


def test_sinusoidal_positions_are_the_papers():
    table = nn.sinusoidal_positions(6, 10)
    assert table.shape == (6, 10)
    assert table[4, 6] == pytest.approx(np.sin(4 / 10000 ** (6 / 10)), rel=1e-6)
    assert table[4, 7] == pytest.approx(np.cos(4 / 10000 ** (6 / 10)), rel=1e-6)


def test_embedding_adds_up_the_gradients_of_repeated_ids():
    table = nn.Embedding(4, 3, rng=0)
    table([[0, 0], [2, 0]]).backward(np.ones((2, 2, 3)))
    np.testing.assert_array_equal(table.weight.grad, np.array([3, 0, 1, 0], np.float32)[:, None] * np.ones(3))


@pytest.mark.parametrize(("ids", "error"), [([4], ValueError), ([-1], ValueError), ([0.5], TypeError)])
def test_embedding_refuses(ids, error):
    with pytest.raises(error):
        nn.Embedding(4, 3, rng=0)(ids)


def decoder(**options):
    return nn.TransformerDecoder(11, E, H, 2, 16, rng=7, **options)


VARIANTS = [
    {},
    {"positions": "sinusoidal"},
    {"positions": "rotary", "num_kv_heads": 1},
    {"positions": "rotary", "qk_norm": "l2"},
    {"qk_norm": "rms", "scale": 0.5},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("chunks", [[9], [1] * 9, [4, 1, 1, 3], [8, 1]], ids=str)
def test_any_chunking_against_the_cache_equals_the_full_pass(options, chunks):
    model = decoder(**options)
    ids = np.random.default_rng(1).integers(0, 11, (B, 9))
    with no_grad():
        full = model(ids).numpy()
        caches = [KVCache() for _ in model.blocks]
        parts = [model(part, caches).numpy() for part in np.split(ids, np.cumsum(chunks)[:-1], axis=1)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), full, atol=2e-5)  # float32 rounding through two blocks


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_no_logit_depends_on_a_later_token_unless_the_mask_is_left_out(options):
    ids = np.random.default_rng(2).integers(0, 11, (1, 9))
    changed = ids.copy()
    changed[0, 6] = (ids[0, 6] + 1) % 11
    for is_causal in (True, False):
        model = decoder(is_causal=is_causal, **options)
        same = np.array_equal(model(ids).numpy()[0, :6], model(changed).numpy()[0, :6])
        assert same == is_causal


def test_generate_repeats_itself_and_is_the_likeliest_at_temperature_0():
    model = decoder()
    assert model.generate([1, 2], 6, rng=3) == model.generate([1, 2], 6, rng=3)
    ids = model.generate([1, 2], 6, temperature=0)
    with no_grad():
        logits = model(np.array([ids[:-1]])).numpy()[0]
    assert ids[2:] == list(logits[1:].argmax(axis=-1))
    with pytest.raises(ValueError, match="got 0"):
        model.generate([], 3)


def test_too_many_tokens_are_refused():
    with pytest.raises(ValueError, match="at most 16 tokens, got 17"):
        decoder()(np.zeros((1, 17), int))


def test_parameters_are_named_by_their_place():
    names = [name for name, _ in decoder().named_parameters()]
    assert len(names) == len(set(names))
    assert {"positions", "tokens.weight", "blocks.1.attention.q_proj.bias", "head.weight"} <= set(names)


def test_a_state_survives_the_file_to_the_bit(tmp_path):
    model, other = decoder(), nn.TransformerDecoder(11, E, H, 2, 16, rng=8)
    ids = np.arange(5)[None]
    assert not np.array_equal(model(ids).numpy(), other(ids).numpy())
    nn.save(tmp_path / "model.npz", model.state_dict())
    other.load_state_dict(nn.load(tmp_path / "model.npz"))
    np.testing.assert_array_equal(model(ids).numpy(), other(ids).numpy())
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]


def test_a_state_that_does_not_fit_is_refused_with_every_difference():
    model = decoder()
    state = model.state_dict()
    before = {name: x.copy() for name, x in state.items()}
    state["head.bias"] = np.zeros(3)
    state["tail.bias"] = np.zeros(4)
    del state["positions"]
    with pytest.raises(ValueError, match="does not fit") as caught:
        model.load_state_dict(state)
    for difference in (r"missing positions (16, 12)", "unknown tail.bias (4,)", "head.bias is (3,), expected (11,)"):
        assert difference in str(caught.value)
    for name, x in model.state_dict().items():
        np.testing.assert_array_equal(x, before[name])


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"\x80\x04K\x01.", b"hello"], ids=["empty", "zip", "pickle", "text"]
)
def test_load_never_unpickles(tmp_path, content):
    path = tmp_path / "state.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"not an \.npz file of plain arrays"):
        nn.load(path)
    np.savez(path, objects=np.array([print], dtype=object))
    with pytest.raises(ValueError, match=r"not an \.npz file of plain arrays"):
        nn.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "state.npz"
    nn.save(path, {"x": np.ones(3)})

    class Broken:
        def __array__(self, *_, **__):
            raise RuntimeError("no array")

    with pytest.raises(RuntimeError, match="no array"):
        nn.save(path, {"x": Broken()})
    np.testing.assert_array_equal(nn.load(path)["x"], np.ones(3))
    assert [p.name for p in tmp_path.iterdir()] == ["state.npz"]


def test_check_finite_names_the_step_and_the_first_op():
    x = Tensor([1.0, -1.0], requires_grad=True)
    with np.errstate(invalid="ignore"):
        loss = (x * 2).log().exp().sum()
    with pytest.raises(FloatingPointError, match=r"step 12.*output of log, \(2,\)"):
        nn.check_finite(loss, 12)
    with pytest.raises(FloatingPointError, match="a parameter"):
        nn.check_finite((Tensor([np.nan], requires_grad=True) * 2).sum(), 0)
    nn.check_finite(x.sum(), 0)
