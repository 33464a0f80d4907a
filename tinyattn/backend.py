"""Where arrays live: NumPy or CuPy, told by the array's own type. The only file that imports cupy."""

import sys
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or cupy.ndarray
DEVICES = ("cpu", "cuda", "emulated")


def is_cupy(x) -> bool:
    return "cupy" in sys.modules and type(x).__module__.partition(".")[0] == "cupy"


def is_array(x) -> bool:
    return isinstance(x, np.ndarray) or (is_cupy(x) and hasattr(x, "shape"))


def namespace(*arrays):
    """The library that the arrays belong to: numpy or cupy. TypeError where they are mixed."""
    if "cupy" not in sys.modules:  # nor can one of them be CuPy's
        return np
    on_gpu = [is_cupy(x) for x in arrays if type(x) is not float and type(x) is not int and x is not None]
    if True not in on_gpu:
        return np
    if any(isinstance(x, np.ndarray) for x in arrays):
        raise TypeError(
            "expected all arrays in one place, got NumPy and CuPy arrays together: move one with .to(device)"
        )
    return sys.modules["cupy"]


def import_cupy():
    """The cupy module, if it is installed and finds a GPU; otherwise RuntimeError with the fix, in one sentence."""
    try:
        import cupy
    except Exception as error:  # a broken installation raises anything, not ImportError alone
        raise RuntimeError(
            f"device 'cuda' needs CuPy, which does not import here ({type(error).__name__}): "
            "pip install 'tinyattn[gpu]' (CUDA 13) or 'tinyattn[gpu12]' (CUDA 12), or use device='emulated'"
        ) from None
    try:
        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise RuntimeError(
            f"device 'cuda' needs an NVIDIA GPU with its driver, and CuPy finds none ({error}): "
            "use device='cpu' or 'emulated'"
        ) from None
    return cupy


def shape_of(x):
    """The shape of an array of either library, () for a number."""
    return getattr(x, "shape", ())


def shown(x):
    """x as it stands in an error message: in one line, however large it is."""
    return f"{type(x).__name__} of shape {x.shape}" if hasattr(x, "shape") else repr(x)


def check_device(device):
    if device not in DEVICES:
        raise ValueError(f"device must be 'cpu', 'cuda' or 'emulated', got {device!r}")
    return device


def to_device(array: Array, device: str) -> Array:
    """The array where `device` keeps its arrays: a CuPy array for 'cuda', a NumPy array for 'cpu' and 'emulated'."""
    if check_device(device) == "cuda":
        return import_cupy().asarray(array)
    return array.get() if is_cupy(array) else array


def widen(array: Array) -> Array:
    """float16 as float32, in which it is accumulated; everything else as it is."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def add_at(array: Array, index, values: Array) -> None:
    """array[index] += values where an index that occurs twice adds twice (`numpy.add.at`)."""
    if is_cupy(array):
        import cupyx

        cupyx.scatter_add(array, index, values)
    else:
        np.add.at(array, index, values)
