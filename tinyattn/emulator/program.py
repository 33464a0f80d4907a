"""Compiles a .cu file with the C++ compiler at hand, and keeps the program in the user's cache."""

import functools
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tinyattn.emulator.errors import KernelError, Unavailable

HERE = Path(__file__).parent
RUNTIME = ("runtime.cpp", "checks.cpp")
HEADERS = ("cuda.h", "runtime.h")

FLAGS = (
    *("-std=c++17", "-g", "-w", "-march=native", "-fno-exceptions", "-fno-rtti", "-fno-math-errno"),
    "-fno-finite-loops",  # an endless loop shall stay one, and be found
    *("-fno-pie", "-fno-omit-frame-pointer", f"-I{HERE}"),
)
FAST = ("-O2", "-ftree-vectorize")
CHECKED = ("-O2", "-fsanitize=thread", "-fsanitize=bounds,alignment")
# The hooks must see the accesses that the source makes: no float4 split in four, no loop turned into memcpy. And a
# struct that goes from memory straight into a call passes the hooks unseen: all calls are inlined, then, as nvcc does.
AS_WRITTEN = {
    "gcc": (
        *("-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-fno-tree-sra", "-fno-ipa-sra"),
        *("-fno-tree-loop-distribute-patterns", "-finline-functions", "--param=max-inline-insns-auto=100000"),
        *("--param=max-inline-insns-single=100000", "--param=inline-unit-growth=100000"),
        "--param=large-function-growth=100000",
    ),
    "clang": ("-O0", "-mllvm", "-tsan-instrument-read-before-write=1"),
}

DYNAMIC_SHARED = re.compile(
    r"extern\s+(?=[^;{}]*__shared__)(?:(?:__shared__|(?:__align__|alignas)\s*\([^)]*\))\s+)+"  # extern __shared__ ...
    r"([\w:]+(?:[ \t]+[\w:]+)*)\s+(\w+)\s*\[\s*\]\s*;"  # ... type name[];
)


@dataclass(frozen=True)
class Program:
    """A compiled .cu file: the executable, and where its `__shared__` arrays lie: (offset, bytes, name)."""

    path: Path
    file: str
    checked: bool
    shared: tuple[tuple[int, int, str], ...]


@functools.cache
def compiler() -> str:
    """The C++ compiler to use: $CXX, g++, c++ or clang++, the first that is there."""
    if sys.platform != "linux":
        raise Unavailable(
            "The CUDA emulator runs on Linux only (on Windows: in WSL); everything else works without it."
        )
    candidates = [os.environ.get("CXX"), "g++", "c++", "clang++"]
    found = next((path for name in candidates if name and (path := shutil.which(name))), None)
    if found is None:
        raise Unavailable(
            "The CUDA emulator needs a C++ compiler and found none: install g++ (Debian and Ubuntu: apt install g++), "
            "or name yours in the variable CXX; everything else works without it."
        )
    if missing := [tool for tool in ("readelf", "addr2line") if shutil.which(tool) is None]:
        raise Unavailable(f"The CUDA emulator needs {' and '.join(missing)}: install binutils (apt install binutils).")
    return found


@functools.cache
def family() -> str:
    """Which options the compiler understands: "gcc" or "clang"."""
    return "clang" if "clang" in run([compiler(), "--version"]).stdout else "gcc"


def available() -> tuple[bool, str]:
    """Whether kernels can be emulated here, and with what, or why not."""
    try:
        return True, f"CUDA kernels run on the CPU, compiled by {compiler()}"
    except Unavailable as reason:
        return False, str(reason)


@functools.cache
def cache_folder() -> Path:
    """A folder of this user's own for compiled kernels; in the temporary folder where the home is read-only."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for folder in (caches / "tinyattn", Path(tempfile.gettempdir()) / f"tinyattn-{os.getuid()}"):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        if folder.stat().st_uid == os.getuid():  # in a shared temporary folder somebody else may have been first
            return folder
    return Path(tempfile.mkdtemp(prefix="tinyattn-"))


@functools.cache
def _fingerprint() -> str:
    """Changes with the compiler, the processor and the sources in this folder."""
    tool = Path(compiler()).resolve()
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    features = re.search(r"^(flags|Features)\s*:.*$", info, re.MULTILINE)
    parts = [str(tool), str(tool.stat().st_mtime_ns), platform.machine(), features.group() if features else ""]
    parts += [(HERE / name).read_text() for name in (*HEADERS, *RUNTIME, "program.py")]
    return "\n".join(parts)


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)


def _publish(made: Path, name: Path) -> None:
    """Gives a finished file its name in one step, so that two processes may build the same thing at once."""
    os.replace(made, name)


def _objects(flags: tuple[str, ...]) -> list[str]:
    """The compiled runtime, built once for every kernel of this user."""
    key = hashlib.sha256("\n".join((_fingerprint(), *FLAGS, *flags)).encode()).hexdigest()[:20]
    objects = []
    for source in RUNTIME:
        target = cache_folder() / f"{key}-{source}.o"
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
                made = Path(folder) / "runtime.o"
                result = run([compiler(), *FLAGS, *flags, "-O2", "-c", str(HERE / source), "-o", str(made)])
                if result.returncode:
                    raise Unavailable(
                        f"{compiler()} cannot compile the emulator's {source}: {_first_error(result.stderr)}"
                    )
                _publish(made, target)
        objects.append(str(target))
    return objects


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if "error" in line or "undefined reference" in line]
    return (lines or text.strip().splitlines() or ["no message"])[0]


def rewrite(source: str) -> str:
    """The one change to a kernel's text: `extern __shared__ T name[];` becomes a pointer, on the same line."""
    return DYNAMIC_SHARED.sub(r"\1* const \2 = (\1*)emulator::dynamic_shared;", source)


def _translation_unit(source: str, file: str, kernels: tuple[str, ...]) -> str:
    """The kernels, followed by the table through which the runtime finds them by name."""
    name = json.dumps(file, ensure_ascii=False)
    entries = "".join(f'{{"{k}", [](void** slots) {{ emulator::invoke({k}, slots); }}}}, ' for k in kernels)
    return "\n".join(
        (
            f"#line 1 {name}",
            rewrite(source),
            '#line 1 "emulator_kernels"',
            "extern const emulator::Entry emulator_kernels[];",
            f"const emulator::Entry emulator_kernels[] = {{{entries} {{}}}};\n",
        )
    )


def _shared_arrays(program: Path) -> list[tuple[int, int, str]]:
    """Every `__shared__` variable is thread-local storage here, so the symbol table knows its place, size and name."""
    listing = run(["readelf", "--syms", "--wide", "--demangle", str(program)]).stdout
    arrays = []
    for line in listing.splitlines():
        fields = line.split(None, 7)
        if len(fields) == 8 and fields[3] == "TLS" and fields[6] != "UND":
            name = re.sub(r"\W", "_", fields[7].split("::")[-1])
            arrays.append((int(fields[1], 16), int(fields[2], 0), name))
    return sorted(arrays)


def build(
    source: str,
    kernels: tuple[str, ...],
    *,
    file: str = "kernel.cu",
    checked: bool = False,
    flags: tuple[str, ...] = (),
) -> Program:
    """Compiles the kernels of a .cu text into a program, or takes it from the cache.

    Raises:
        Unavailable: there is no C++ compiler.
        KernelError: the text does not compile; the message holds the compiler's first error with its line.
    """
    mode = (*FLAGS, *((*CHECKED, *AS_WRITTEN[family()]) if checked else FAST), *flags)
    unit = _translation_unit(source, file, kernels)
    key = hashlib.sha256("\n".join((_fingerprint(), *mode, unit)).encode()).hexdigest()[:20]
    target, layout = cache_folder() / key, cache_folder() / f"{key}.json"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            # Some line tables name the file that was compiled, not the one in #line: they had better be alike.
            text, made, made_layout = Path(folder) / file, Path(folder) / "program", Path(folder) / "program.json"
            text.write_text(unit, encoding="utf-8")
            before = ("-include", str(HERE / "cuda.h"), "-x", "c++", "-c")
            result = run([compiler(), *mode, *before, str(text), "-o", f"{made}.o"])
            if result.returncode:
                raise _compile_error(result.stderr, file)
            result = run([compiler(), "-no-pie", f"{made}.o", *_objects(flags), "-o", str(made)])
            if result.returncode:
                raise _compile_error(result.stderr, file)
            made_layout.write_text(json.dumps(_shared_arrays(made)))
            _publish(made_layout, layout)
            _publish(made, target)
    shared = tuple((offset, size, name) for offset, size, name in json.loads(layout.read_text()))
    return Program(target, file, checked, shared)


def _compile_error(text: str, file: str) -> KernelError:
    line = _first_error(text)
    found = re.match(re.escape(file) + r":(\d+):\d+:\s*(?:fatal )?error:\s*(.*)", line)
    return KernelError(
        "compile error", file=file, line=int(found[1]) if found else None, detail=found[2] if found else line
    )
