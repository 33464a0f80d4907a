"""What the kernel tests share: where kernels can run here, and why not where they cannot."""

import pytest

from tinyattn import emulator
from tinyattn.backend import import_cupy

try:
    import_cupy()
    NO_GPU = ""
except RuntimeError as reason:
    NO_GPU = str(reason)


@pytest.fixture(scope="session", params=["emulated"] if NO_GPU else ["emulated", "cuda"])
def device(request):
    """Each place that runs kernels here, in turn."""
    here, reason = emulator.available()
    if request.param == "emulated" and not here:
        pytest.skip(reason)
    return request.param


@pytest.fixture(scope="session")
def emulated():
    """For tests of the emulator itself."""
    here, reason = emulator.available()
    if not here:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def no_gpu():
    """Why kernels do not run on a GPU here, or an empty text."""
    return NO_GPU
