"""What imports what, what `import tinyattn` loads, and what may lie in the tree."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tinyattn"

ORDER = ["backend", "tensor", "kernels", "ops", "attention", "nn", "optim"]  # each may import those before it
BESIDE = {  # what stands beside the engine, and what it may import of the others beside it
    "gradcheck": set(),
    "costs": set(),
    "emulator": set(),
    "lesson": {"plot", "emulator"},
    "plot": {"lesson"},
    "library": {"lesson"},
    "quiz": {"lesson"},
    "runner": {"lesson", "library"},
    "doctor": {"plot", "emulator"},
    "grading": {"gradcheck", "costs", "plot", "lesson", "library", "emulator"},
    "cli": {"lesson", "library", "runner", "quiz", "doctor", "grading"},
    "__main__": {"cli"},
}
ENGINE_MAY = {"kernels": {"emulator"}, "ops": set()}  # beyond ORDER: the launcher starts the emulator


def part(module):
    """tinyattn.attention.masks -> attention: the piece of the design that a module belongs to."""
    return module.split(".")[1] if "." in module else "tinyattn"


def imported(path):
    """(module, line) of everything that a file imports, relative imports spelled out, also inside functions."""
    here = ("tinyattn", *path.relative_to(PACKAGE).with_suffix("").parts)
    package = here[:-1]  # for __init__.py, too, its own folder
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            for name in node.names:
                assert name.name != "*", f"{path.name}:{node.lineno} imports *"
                below = PACKAGE.joinpath(*module.split(".")[1:], name.name) if module.startswith("tinyattn") else None
                is_module = below is not None and (below.is_dir() or below.with_suffix(".py").exists())
                yield (f"{module}.{name.name}" if is_module else module), node.lineno


MODULES = sorted(PACKAGE.rglob("*.py"))
ISOLATED = PACKAGE / "grading" / "worker.py"  # starts with no path at all, and sets its own


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    own = part(".".join(("tinyattn", *path.relative_to(PACKAGE).with_suffix("").parts)))
    if own == "__init__":
        allowed = {"attention", "gradcheck", "ops", "tensor"}
    elif own in ORDER:
        allowed = {*ORDER[: ORDER.index(own) + 1], *ENGINE_MAY.get(own, set())}
    else:
        assert own in BESIDE, f"where does {own} stand in the design?"
        allowed = {own, *ORDER, *BESIDE[own], "tinyattn"}
    for module, line in imported(path):
        top = module.partition(".")[0]
        where = f"{path.relative_to(ROOT)}:{line} imports {module}"
        if top == "tinyattn":
            assert part(module) in allowed, where
        assert top not in ("tests", "lessons"), where
        assert top not in ("cupy", "cupyx") or path.name == "backend.py", where
        assert top != "matplotlib" or path.name == "plot.py", where


@pytest.mark.parametrize("path", [path for path in MODULES if path != ISOLATED], ids=lambda path: path.stem)
def test_no_path_edits(path):
    assert not re.search(r"sys\.path\b.*(insert|append|\+=)|sys\.path\s*=[^=]", path.read_text(encoding="utf-8"))


def loaded(code):
    """Names of the modules that are loaded after `code` in a fresh interpreter."""
    call = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    return set(subprocess.run(call, capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_the_engine_and_little_else():
    """Its cost beside NumPy's is a benchmark; what it loads besides NumPy is what decides it, and holds everywhere."""
    more = {name for name in loaded("import tinyattn") - loaded("import numpy") if not name.startswith("tinyattn")}
    heavy = {"matplotlib", "rich", "cupy", "argparse", "subprocess", "multiprocessing", "asyncio", "hypothesis", "csv"}
    assert not more & heavy
    assert len(more) <= 25, sorted(more)
    engine = {part(name) for name in loaded("import tinyattn") if name.startswith("tinyattn.")}
    assert engine & {"plot", "grading", "emulator", "lesson", "cli", "runner"} == set()


# ------------------------------------------------------------------------------------------------------------ the tree


@pytest.fixture(scope="module")
def tracked():
    """The files that git tracks."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git clone: nothing says which files belong to it")
    call = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).exists()]


def test_top_level(tracked):
    names = {path.relative_to(ROOT).parts[0] for path in tracked}
    expected = {"pyproject.toml", "README.md", "LICENSE", "tinyattn", "lessons", "tests", "figures"}
    assert {name for name in names if not name.startswith(".")} == expected


def test_no_machine_paths_and_no_package_index(tracked):
    machine = re.compile(r"(?<![\w./~$}-])/(work|root|opt|home|farm|tmp(?!/tinyattn)|Users)/[\w.]")
    index = re.compile(r"--(extra-)?index-url|--find-links|files\.pythonhosted\.org|(pypi|test\.pypi)\.org/simple")
    found = []
    for path in tracked:
        if path.suffix in (".png", ".npz", ".npy") or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if machine.search(line) or index.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_files_are_small(tracked):
    assert [str(path.relative_to(ROOT)) for path in tracked if path.stat().st_size > 1_500_000] == []
    assert [path.name for path in tracked if path.suffix == ".png" and path.stat().st_size > 300_000] == []


def test_no_file_twice(tracked):
    sizes = {}
    for path in tracked:
        if path.stat().st_size > 200:
            sizes.setdefault(path.read_bytes(), []).append(str(path.relative_to(ROOT)))
    assert [names for names in sizes.values() if len(names) > 1] == []
