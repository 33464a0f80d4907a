"""Fixtures for every test: where attention is computed, how, and with which random numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tinyattn import Tensor, emulator, scaled_dot_product_attention
from tinyattn.backend import import_cupy

settings.register_profile(
    "tinyattn", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tinyattn")


@pytest.fixture
def rng():
    return np.random.default_rng(20170612)  # the day "Attention is all you need" came out


@pytest.fixture(params=["steps", "tiled", "auto"])
def method(request):
    """Each way in which scaled_dot_product_attention computes the same function."""
    return request.param


@pytest.fixture(params=["cpu", "emulated", "cuda"])
def device(request):
    """Each place where tensors live, as far as this machine has it."""
    if request.param == "emulated":
        usable, why = emulator.available()
        if not usable:
            pytest.skip(f"no emulator: {why}")
    if request.param == "cuda":
        try:
            import_cupy()
        except RuntimeError as error:
            pytest.skip(str(error))
    return request.param


@pytest.fixture
def attend(method):
    """scaled_dot_product_attention of arrays, by each method.

    The result has .output and, with `upstream`, .query .key .value .attn_mask: gradients of sum(output * upstream).
    """

    def run(query, key, value, attn_mask=None, *, upstream=None, **options):
        given = {"query": query, "key": key, "value": value, "attn_mask": attn_mask}
        tensors = {}
        for name, x in given.items():
            if x is not None:
                x = np.asarray(x)
                tensors[name] = Tensor(x, requires_grad=upstream is not None and x.dtype.kind == "f")
        output = scaled_dot_product_attention(**tensors, method=method, **options)
        if upstream is not None:
            output.backward(np.broadcast_to(np.float64(upstream), output.shape))
        return SimpleNamespace(output=output.data, **{name: t.grad for name, t in tensors.items()})

    return run
