"""Raw CUDA kernels: read a .cu file, check every argument, launch: on the GPU through CuPy, or on the emulator.

    softmax = load("softmax.cu", device="emulated").get_function("softmax")
    softmax((rows,), (32,), (x, y, np.int32(n)))                 # grid, block, arguments: as with cupy.RawKernel

CuPy hands a kernel whatever it is given: a float64 array to a float*, a strided array to a kernel that reads it packed,
a Python float as eight bytes. Here each argument is first held against the kernel's own declaration.
"""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tinyattn.backend import import_cupy, is_array, is_cupy

OPTIONS = ("-std=c++17",)  # CuPy adds the architecture and -ftz=true
MOST_SHARED = 227 * 1024  # bytes of shared memory that a block can have on the largest GPUs of today

TYPES = {
    "bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8",
    "int8_t": "int8", "uint8_t": "uint8",
    "short": "int16", "unsigned short": "uint16", "int16_t": "int16", "uint16_t": "uint16",
    "half": "float16", "__half": "float16", "float": "float32", "double": "float64",
    "int": "int32", "unsigned": "uint32", "unsigned int": "uint32", "int32_t": "int32", "uint32_t": "uint32",
    "long long": "int64", "unsigned long long": "uint64", "int64_t": "int64", "uint64_t": "uint64", "size_t": "uint64",
}  # fmt: skip
NO_TYPE = {"const", "volatile", "__restrict__", "__restrict", "__grid_constant__", "std"}
VECTORS = {
    f"{name}{width}": (dtype, width)
    for name, dtype in (
        ("float", "float32"),
        ("int", "int32"),
        ("uint", "uint32"),
        ("double", "float64"),
        ("uchar", "uint8"),
    )
    for width in (2, 4)
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel as its source declares it."""

    name: str
    declared: str
    dtype: np.dtype | None  # None: a type that cannot be passed from Python
    pointer: bool
    const: bool
    align: int = 1


@dataclass(frozen=True)
class Signature:
    """A kernel's name, parameters and, where `__launch_bounds__` gives one, the most threads that a block may have."""

    name: str
    parameters: tuple[Parameter, ...]
    most_threads: int | None


# ------------------------------------------------------------------------------------------ reading the source


def _without_comments(source: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)


def _type_of(words: str, aliases: dict[str, str]) -> tuple[np.dtype | None, int]:
    """The dtype of a C type and the alignment of one element in memory; follows `using` and `typedef`."""
    if words in VECTORS:
        name, width = VECTORS[words]
        return np.dtype(name), min(16, np.dtype(name).itemsize * width)
    if words in TYPES:
        return np.dtype(TYPES[words]), np.dtype(TYPES[words]).itemsize
    if words in aliases:
        return _type_of(aliases[words], {name: alias for name, alias in aliases.items() if name != words})
    return None, 1


def _parameter(text: str, aliases: dict[str, str]) -> Parameter:
    text = " ".join(text.split("=")[0].split())
    words = re.findall(r"\w+|\*", re.sub(r"(\w+) ?\[.*\]$", r"* \1", text))  # `float x[]` is `float* x`
    plain = [word for word in words if word not in NO_TYPE]
    pointer = plain.count("*") == 1
    *kind, name = [word for word in plain if word != "*"]
    dtype, align = _type_of(re.sub(r"^(signed|unsigned )?(\w+ )?int$", _drop_int, " ".join(kind)), aliases)
    if plain.count("*") > 1:
        dtype = None
    const = "const" in words[: words.index("*")] if pointer else True
    return Parameter(name, text, dtype, pointer, const, align)


def _drop_int(match: re.Match) -> str:
    """`long long int` is `long long`, `unsigned short int` is `unsigned short`; `int` stays."""
    words = match.group().split()
    return " ".join(words) if words in (["int"], ["unsigned", "int"]) else " ".join(w for w in words if w != "int")


@functools.lru_cache(maxsize=64)
def signatures(source: str) -> dict[str, Signature]:
    """The kernels that a .cu text defines, by name. Templates are left out: Python cannot name an instance of one."""
    text = _without_comments(source)
    aliases = {name: " ".join(kind.split()) for kind, name in re.findall(r"typedef\s+([\w\s]+?)\s+(\w+)\s*;", text)}
    aliases |= {name: " ".join(kind.split()) for name, kind in re.findall(r"using\s+(\w+)\s*=\s*([\w\s]+?)\s*;", text)}
    bounds = r"(?:__launch_bounds__\s*\(\s*(\w+)[^)]*\)\s*)?"
    found = {}
    for match in re.finditer(rf"__global__\s+{bounds}void\s+{bounds}(\w+)\s*\(([^)]*)\)\s*\{{", text):
        before, after, name, parameters = match.groups()
        if re.search(r"template\s*<[^;{}]*>\s*(static\s+|inline\s+)*$", text[: match.start()]):
            continue
        pieces = [piece for piece in parameters.split(",") if piece.strip() not in ("", "void")]
        limit = before or after or ""
        found[name] = Signature(
            name, tuple(_parameter(piece, aliases) for piece in pieces), int(limit) if limit.isdigit() else None
        )
    return found


# ------------------------------------------------------------------------------------------------- checking a launch


def _shape(what: str, value, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3 or not all(isinstance(size, (int, np.integer)) for size in sizes):
        raise TypeError(f"{what} must be one to three integers, got {value!r}")
    x, y, z = (*map(int, sizes), 1, 1)[:3]
    if any(not 1 <= size <= limit for size, limit in zip((x, y, z), limits, strict=True)):
        raise ValueError(f"{what} must lie between (1, 1, 1) and {limits}, got {(x, y, z)}")
    return x, y, z


def _scalar(kernel: str, parameter: Parameter, value) -> np.generic:
    dtype = parameter.dtype
    assert dtype is not None
    expected = f"parameter `{parameter.declared}` of kernel {kernel} takes a number that fits {dtype}"
    if not isinstance(value, (bool, int, float, np.number, np.bool_)):
        raise TypeError(f"{expected}, got {type(value).__name__}")
    if dtype.kind != "f":
        if isinstance(value, (float, np.floating)):
            raise TypeError(f"{expected}, got {value!r}")
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if not limits[0] <= int(value) <= limits[1]:
            raise ValueError(f"{expected}, got {value!r}")
    elif math.isfinite(value) and abs(float(value)) > float(np.finfo(dtype).max):
        raise ValueError(f"{expected}, got {value!r}")
    return dtype.type(value)


def _array(kernel: str, parameter: Parameter, value, on_gpu: bool):
    """The array as the kernel reads it: packed. It is the caller's own wherever that is packed already."""
    if value is None:
        return None  # a null pointer
    library = "CuPy" if on_gpu else "NumPy"
    expected = f"parameter `{parameter.declared}` of kernel {kernel} takes a {library} array of {parameter.dtype}"
    if not is_array(value) or is_cupy(value) != on_gpu:
        raise TypeError(f"{expected}, got {type(value).__module__.partition('.')[0]} {type(value).__name__}")
    if value.dtype != parameter.dtype or (value.dtype.kind != "b" and value.dtype.byteorder == ">"):
        raise TypeError(f"{expected}, got {value.dtype}")
    if not parameter.const and not on_gpu and not value.flags.writeable:
        raise ValueError(f"{expected} that it writes, got a read-only one of shape {value.shape}")
    if not parameter.const and any(
        stride == 0 and size > 1 for stride, size in zip(value.strides, value.shape, strict=True)
    ):
        raise ValueError(f"{expected} that it writes, got a broadcast one of shape {value.shape}")
    packed = value if value.flags.c_contiguous else value.copy(order="C")
    address = packed.data.ptr if on_gpu else packed.ctypes.data
    if address % parameter.align:
        raise ValueError(f"{expected} that begins at a multiple of {parameter.align} bytes, got one that does not")
    return packed


def _check_arguments(signature: Signature, args: Sequence, on_gpu: bool) -> list:
    kernel, parameters = signature.name, signature.parameters
    if len(args) != len(parameters):
        listed = ", ".join(parameter.declared for parameter in parameters)
        raise TypeError(f"kernel {kernel} takes {len(parameters)} arguments ({listed}), got {len(args)}")
    packed = []
    for parameter, value in zip(parameters, args, strict=True):
        if parameter.dtype is None:
            raise TypeError(f"parameter `{parameter.declared}` of kernel {kernel} has a type that Python cannot pass")
        packed.append(
            _array(kernel, parameter, value, on_gpu) if parameter.pointer else _scalar(kernel, parameter, value)
        )
    return packed


# --------------------------------------------------------------------------------------------------------- launching


@dataclass(frozen=True)
class Kernel:
    """A kernel that can be called with a grid, a block and its arguments."""

    signature: Signature
    module: "Module"

    def __call__(self, grid, block, args: Sequence, shared_mem: int = 0):
        """Launches the kernel; arrays that it takes by a pointer to non-const are changed in place.

        Args:
            grid, block: one to three integers each.
            args: arrays, or None, for pointers; NumPy or Python numbers for the rest.
            shared_mem: bytes of dynamic shared memory.

        Returns:
            `emulator.Counts` for a checked launch, otherwise None.

        Raises:
            TypeError, ValueError: an argument is not what the kernel's source declares, before anything runs.
            emulator.KernelError: the emulator found a fault; the arrays are unchanged.
        """
        name = self.signature.name
        grid = _shape("grid", grid, (2**31 - 1, 65535, 65535))
        block = _shape("block", block, (1024, 1024, 64))
        threads = math.prod(block)
        most = min(1024, self.signature.most_threads or 1024)
        if threads > most:
            raise ValueError(
                f"kernel {name} can have at most {most} threads in a block, got {block}, which is {threads}"
            )
        if not isinstance(shared_mem, (int, np.integer)):
            raise TypeError(f"shared_mem must be an integer, in bytes, got {shared_mem!r}")
        if not 0 <= shared_mem <= most_shared(self.module.device):
            limit = most_shared(self.module.device)
            raise ValueError(f"shared_mem must lie between 0 and {limit} bytes, got {shared_mem}")
        packed = _check_arguments(self.signature, args, self.module.device == "cuda")
        counts = self.module.run(self.signature, grid, block, packed, int(shared_mem))
        for parameter, given, used in zip(self.signature.parameters, args, packed, strict=True):
            if parameter.pointer and not parameter.const and used is not given:
                given[...] = used
        return counts


@dataclass(frozen=True)
class Module:
    """The kernels of one .cu text, compiled for one device."""

    source: str
    file: str
    device: str

    def get_function(self, name: str) -> Kernel:
        """The kernel of that name; ValueError with the names that there are, if there is none."""
        known = signatures(self.source)
        if name not in known:
            raise ValueError(f"{self.file} has no kernel {name!r}; its kernels are {', '.join(known) or 'none'}")
        return Kernel(known[name], self)

    def run(self, signature: Signature, grid, block, args: Sequence, shared_mem: int) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class EmulatedModule(Module):
    checked: bool
    order: str
    seed: int
    time_limit: float

    def run(self, signature: Signature, grid, block, args: Sequence, shared_mem: int) -> Any:
        from tinyattn import emulator

        program = emulator.build(self.source, tuple(signatures(self.source)), file=self.file, checked=self.checked)
        # A const array may be read-only in NumPy, and need not come back.
        views = [arg.view() if isinstance(arg, np.ndarray) else arg for arg in args]
        for view, parameter in zip(views, signature.parameters, strict=True):
            if parameter.pointer and parameter.const and view is not None:
                view.flags.writeable = False
        return emulator.launch(
            *(program, signature.name, grid, block, views),
            names=[parameter.name for parameter in signature.parameters],
            shared_mem=shared_mem, order=self.order, seed=self.seed, time_limit=self.time_limit,
        )  # fmt: skip


@dataclass(frozen=True)
class GpuModule(Module):
    def run(self, signature: Signature, grid, block, args: Sequence, shared_mem: int) -> None:
        function = self._function(signature.name)
        most, threads = function.max_threads_per_block, math.prod(block)
        if threads > most:
            raise ValueError(
                f"kernel {signature.name} uses {function.num_regs} registers a thread, which leaves room for at most "
                f"{most} threads in a block, got {block}, which is {threads}"
            )
        if shared_mem > function.max_dynamic_shared_size_bytes:
            function.max_dynamic_shared_size_bytes = shared_mem
        args = tuple(np.uintp(0) if arg is None else arg for arg in args)
        function(grid, block, args, shared_mem=shared_mem)  # on CuPy's current stream

    def _function(self, name: str):
        return _compiled(self.source, self.file).get_function(name)


@functools.lru_cache(maxsize=64)
def _compiled(source: str, file: str):
    """CuPy's module for a .cu text: compiled once, and kept by CuPy on disk."""
    cupy = import_cupy()
    mangled = [name for name in signatures(source) if not re.search(rf'extern\s+"C"[^;{{}}]*\b{name}\s*\(', source)]
    module = cupy.RawModule(code=source, options=OPTIONS, name_expressions=mangled or None)
    try:
        module.compile()
    except cupy.cuda.compiler.CompileException as error:
        from tinyattn.emulator import KernelError

        lines = [line for line in str(error).splitlines() if "error" in line]
        raise KernelError("compile error", file=file, detail=(lines or [str(error)])[0]) from None
    return module


@functools.cache
def most_shared(device: str) -> int:
    """Bytes of shared memory that a block can have there; the emulator has as much as any GPU."""
    return import_cupy().cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"] if device == "cuda" else MOST_SHARED


def load(
    path_or_source: str | Path,
    device: str = "cuda",
    checked: bool = False,
    *,
    order: str = "forward",
    seed: int = 0,
    time_limit: float = 60.0,
) -> Module:
    """The kernels of a .cu file, or of a .cu text, ready to be launched.

    Args:
        path_or_source: a path that ends in .cu, or CUDA C++ text. Kernels must be functions, not templates.
        device: "cuda" (through CuPy) or "emulated" (on the CPU; needs a C++ compiler).
        checked: emulated only: report races, bad addresses, missing barriers; count the bytes moved.
        order, seed: emulated only: the turns of a block's threads, "forward", "reverse" or "random".
        time_limit: emulated only: seconds of processor time until a launch counts as an endless loop.
    """
    if device not in ("cuda", "emulated"):
        raise ValueError(f"a kernel runs on device 'cuda' or 'emulated', got {device!r}")
    if order not in ("forward", "reverse", "random"):
        raise ValueError(f"order must be 'forward', 'reverse' or 'random', got {order!r}")
    if not isinstance(path_or_source, (str, Path)):
        raise TypeError(f"expected a path or the text of a .cu file, got {type(path_or_source).__name__}")
    is_path = isinstance(path_or_source, Path) or (path_or_source.endswith(".cu") and "\n" not in path_or_source)
    source = Path(path_or_source).read_text(encoding="utf-8") if is_path else str(path_or_source)
    file = Path(path_or_source).name if is_path else "kernel.cu"
    if device == "cuda":
        return GpuModule(source, file, device)
    return EmulatedModule(source, file, device, checked, order, seed, time_limit)
