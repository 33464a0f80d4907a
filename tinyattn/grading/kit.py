"""What a worker needs in order to compile and run CUDA kernels: the emulator without the engine, and a compiler."""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

from tinyattn.emulator import available, program
from tinyattn.grading.process import Policy

# In the worker `tinyattn` is this alone. The runtime is compiled already; the rest is made in the worker's own folder.
PACKAGE = """import os

os.environ.update(XDG_CACHE_HOME=os.getcwd(), TMPDIR=os.getcwd())
os.devnull = os.path.join(os.getcwd(), "null")  # devices are out of reach; an empty file will do for standard input
open(os.devnull, "w").close()

from tinyattn.emulator import program

program._fingerprint = str  # nothing made here outlives the worker
program._objects = lambda flags: {objects!r}
"""


def obstacle() -> str:
    """Why no kernel can be run on this machine; empty if one can."""
    found, why = available()
    return "" if found else why


@functools.cache
def kernel_policy() -> Policy:
    """A worker that may import tinyattn.kernels and the emulator, and run the C++ compiler."""
    folder = Path(tempfile.mkdtemp(prefix="tinyattn-kit-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package, engine = folder / "tinyattn", Path(program.HERE).parent
    shutil.copytree(engine / "emulator", package / "emulator", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("backend.py", "kernels.py"):
        shutil.copy(engine / name, package)
    objects = [shutil.copy(path, folder) for path in program._objects(())]
    (package / "__init__.py").write_text(PACKAGE.format(objects=objects), encoding="utf-8")
    for path in (folder, *folder.rglob("*")):
        os.chmod(path, 0o755 if path.is_dir() else 0o644)
    return Policy(read=tuple(toolchain()), modules=(str(folder),), scratch=True, run_programs=True)


def toolchain() -> list[str]:
    """The folders that hold the C++ compiler, its headers and its parts."""
    compilers = Path(program.compiler()), Path(program.compiler()).resolve()
    homes = {*(path.parent.parent for path in compilers), Path("/usr"), Path("/")}
    parts = ("bin", "include", "libexec", "lib/gcc", "lib64/gcc", "etc/alternatives")
    return sorted({str(home / part) for home in homes for part in parts if (home / part).is_dir()})
