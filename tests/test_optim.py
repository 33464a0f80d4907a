"""Optimizers: against stored PyTorch steps, and over runs that are stopped, resumed or go wrong."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import stand_in_cupy

from tinyattn import Tensor, nn
from tinyattn.optim import SGD, Adam, AdamW, clip_grad_norm, warmup_cosine


@pytest.fixture(scope="module")
def oracle():
    with np.load(Path(__file__).parent / "oracles" / "family.npz") as stored:
        return {name: stored[name] for name in stored.files if name.startswith(("optim/", "clip/"))}


MAKERS = {
    "sgd": lambda p: SGD(p, lr=0.05),
    "momentum": lambda p: SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "adam": lambda p: Adam(p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1),
    "adamw": lambda p: AdamW(p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_step_is_pytorchs(oracle, name):
    p = Tensor(oracle["optim/start"], requires_grad=True)
    optimizer = MAKERS[name]([p])
    for expected in oracle[f"optim/{name}"]:
        optimizer.zero_grad()
        (oracle["optim/curvature"] * (p - oracle["optim/target"]) ** 2).sum().backward()
        optimizer.step()
        np.testing.assert_allclose(p.numpy(), expected, rtol=1e-9)


def test_clipping_is_pytorchs_and_leaves_small_gradients_alone(oracle):
    p = Tensor(oracle["optim/start"], requires_grad=True)
    (p * oracle["optim/target"]).sum().backward()
    assert clip_grad_norm([p], 0.5) == pytest.approx(float(oracle["clip/norm"]), rel=1e-12)
    np.testing.assert_allclose(p.grad, oracle["clip/grad"], rtol=1e-5)  # PyTorch divides by norm + 1e-6
    before = p.grad.copy()
    clip_grad_norm([p], 1e6)
    np.testing.assert_array_equal(p.grad, before)


def test_the_schedule_rises_in_a_line_and_falls_to_its_floor():
    rates = [warmup_cosine(step, 1.0, 4, 20) for step in range(25)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert np.all(np.diff(rates[4:20]) < 0)
    assert rates[12] == pytest.approx(0.1 + 0.9 / 2)
    assert rates[20:] == pytest.approx([0.1] * 5)


@pytest.mark.parametrize("bad", [[], [np.ones(3)], [Tensor([1.0])]], ids=["none", "array", "no gradient"])
def test_only_parameters_are_taken(bad):
    with pytest.raises(ValueError, match="requires_grad=True"):
        Adam(bad)
    with pytest.raises(ValueError, match="negative, got -1"):
        SGD([Tensor([1.0], requires_grad=True)], lr=-1)


def test_parameters_without_a_gradient_stay():
    p = Tensor([1.0], requires_grad=True)
    for make in MAKERS.values():
        make([p]).step()
    assert p.item() == 1


# --- training --------------------------------------------------------------------------------------------------------

IDS = np.random.default_rng(0).integers(0, 13, 400)


def model_and_optimizer():
    model = nn.TransformerDecoder(13, 12, 3, 2, 10, dropout=0.0, rng=5)
    return model, AdamW(model.parameters(), lr=3e-3)


def train(model, optimizer, steps):
    """Losses of the given steps; the batch follows from the step alone, so that a run can be resumed."""
    losses = []
    for step in steps:
        starts = np.random.default_rng((7, step)).integers(0, len(IDS) - 11, 4)
        batch = IDS[starts[:, None] + np.arange(11)]
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(batch[:, :-1]), batch[:, 1:])
        nn.check_finite(loss, step)
        loss.backward()
        clip_grad_norm(model.parameters(), 1.0)
        optimizer.lr = warmup_cosine(step, 3e-3, 3, 40)
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_two_runs_are_equal_to_the_bit_and_learn():
    first, second = (train(*model_and_optimizer(), range(40)) for _ in range(2))
    assert first == second
    assert np.mean(first[-5:]) < np.mean(first[:5]) - 0.1


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path):
    whole = train(*model_and_optimizer(), range(14))
    model, optimizer = model_and_optimizer()
    train(model, optimizer, range(6))
    nn.save(tmp_path / "model.npz", model.state_dict())
    nn.save(tmp_path / "optimizer.npz", optimizer.state_dict())
    model, optimizer = model_and_optimizer()
    model.load_state_dict(nn.load(tmp_path / "model.npz"))
    optimizer.load_state_dict(nn.load(tmp_path / "optimizer.npz"))
    assert train(model, optimizer, range(6, 14)) == whole[6:]


def test_an_optimizer_refuses_a_state_of_another_shape():
    _, optimizer = model_and_optimizer()
    state = optimizer.state_dict()
    state["mean.0"] = np.zeros(3)
    state["other.0"] = np.zeros(3)
    del state["square.1"]
    with pytest.raises(ValueError, match=r"mean\.0.*") as caught:
        optimizer.load_state_dict(state)
    assert "square.1" in str(caught.value)
    assert "other.0" in str(caught.value)


def test_nan_stops_training_with_step_tensor_and_op():
    model, optimizer = model_and_optimizer()
    train(model, optimizer, range(3))
    model.blocks[1].up.weight.data[:] = np.inf
    with np.errstate(invalid="ignore"), pytest.raises(FloatingPointError, match=r"step 3: .*a parameter, \(48, 12\)"):
        train(model, optimizer, range(3, 6))


def test_memory_is_flat_over_many_steps():
    model, optimizer = model_and_optimizer()
    train(model, optimizer, range(5))
    tracemalloc.start()
    sizes = []
    for step in range(5, 65, 20):
        train(model, optimizer, range(step, step + 20))
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[-1] - sizes[0] < 100_000  # 40 steps; the graph of one holds 400,000 bytes


@pytest.mark.parametrize("make", [lambda p: SGD(p, momentum=0.9), AdamW], ids=["SGD", "AdamW"])
def test_training_turns_no_cupy_array_into_numpys(monkeypatch, make):
    """On the stand-in for CuPy, in float64, for which there is no kernel of ours."""
    stand_in_cupy.install(monkeypatch)
    results = []
    for device in ("cpu", "cuda"):
        model, _ = model_and_optimizer()
        for p in model.parameters():
            p.data = p.data.astype(float)
        model.to(device)
        optimizer = make(model.parameters())
        losses = train(model, optimizer, range(3))
        model.load_state_dict(model.state_dict())
        optimizer.load_state_dict(optimizer.state_dict())
        results.append(losses + train(model, optimizer, range(3, 5)) + model.generate([1, 2], 4, rng=0))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9)
