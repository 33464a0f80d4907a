"""Fixtures for every test: where attention is computed, how, and with which random numbers."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tinyattn import emulator
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
