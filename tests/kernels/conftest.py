"""What the kernel tests share: where kernels can run here, and why not where they cannot."""

import pytest

from tinyattn import emulator
from tinyattn.backend import import_cupy


@pytest.fixture(scope="session", params=["emulated", "cuda"])
def device(request):
    """Each place that runs kernels, in turn; a place that is not here is skipped with its reason."""
    if request.param == "emulated":
        here, reason = emulator.available()
        if not here:
            pytest.skip(reason)
    else:
        try:
            import_cupy()
        except RuntimeError as reason:
            pytest.skip(str(reason))
    return request.param


@pytest.fixture(scope="session")
def emulated():
    """For tests of the emulator itself."""
    here, reason = emulator.available()
    if not here:
        pytest.skip(reason)
