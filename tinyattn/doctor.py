"""Tells what tinyattn finds on this machine, and for each thing missing what it would enable and the command for it."""

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib import metadata
from typing import NamedTuple

import numpy as np

from tinyattn import emulator
from tinyattn.attention.workers import blas_threads
from tinyattn.backend import import_cupy

PIP = f"{sys.executable} -m pip install"


class Finding(NamedTuple):
    """What was found of one thing; `missing` says what it would enable and what brings it, '' where all is well."""

    name: str
    found: str
    missing: str = ""
    needed: bool = False


def examine():
    """Prints the findings; returns 1 where something is missing that the lessons on the CPU need, else 0."""
    findings = [_python(), _numpy(), _matplotlib(), _rich(), _tests(), _compiler(), _gpu()]
    for finding in findings:
        print(f"{'missing' if finding.missing else 'ok':9}{finding.name:10}{finding.found}")
        if finding.missing:
            print(f"{'':19}{finding.missing}")
    return int(any(finding.needed and finding.missing for finding in findings))


def _python():
    return Finding(
        "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"
    )


def _numpy():
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads, _ = blas_threads()
    return Finding(
        "arrays", f"numpy {np.__version__}, BLAS {blas['name']} {blas['version']}: {threads()} threads on {cores} cores"
    )


def _matplotlib():
    if (found := _installed("matplotlib")) is None:
        return Finding("figures", "no matplotlib", f"would draw the lessons' figures: {PIP} matplotlib", needed=True)
    from tinyattn import plot

    backend, has_windows = plot.window_system()
    return Finding("figures", f"{found}, backend {backend} ({'' if has_windows else 'no '}windows for lessons --show)")


def _rich():
    if found := _installed("rich"):
        return Finding("terminal", found)
    return Finding("terminal", "no rich", f"would run and step through the lessons: {PIP} rich", needed=True)


def _tests():
    absent = " ".join(name for name in ("pytest", "hypothesis") if not _version(name))
    found = _installed("pytest", "hypothesis") or "none"
    return Finding("tests", found, absent and f"would run the tests and grade assignments: {PIP} {absent}")


def _compiler():
    there, reason = emulator.available()
    if there:
        return Finding("compiler", reason)
    brings = "apt-get install g++" if sys.platform == "linux" else "use Linux (on Windows: wsl --install)"
    return Finding("compiler", "none", f"would run the CUDA kernels on the CPU (--device emulated): {brings}")


def _gpu():
    enables = "would run everything on the GPU (--device cuda):"
    cupy = next(filter(None, map(_installed, ("cupy-cuda13x", "cupy-cuda12x", "cupy"))), None)
    driver = _driver()
    if cupy is None and driver is None:
        return Finding("GPU", "no NVIDIA driver, no CuPy", f"{enables} a machine with both, {PIP} cupy-cuda13x")
    if cupy is None:
        wanted = "cupy-cuda13x" if driver >= 13 else "cupy-cuda12x"
        return Finding("GPU", f"a driver for CUDA {driver}, no CuPy", f"{enables} {PIP} {wanted}")
    try:
        device = import_cupy().cuda.Device()
        name = import_cupy().cuda.runtime.getDeviceProperties(device.id)["name"].decode()
    except Exception as error:  # CuPy without a working driver raises errors of many kinds
        return Finding("GPU", f"{cupy}, but {error}", f"{enables} apt-get install nvidia-driver")
    return Finding("GPU", f"{name}, compute capability {device.compute_capability}, {cupy}")


def _driver():
    """The newest CUDA that the NVIDIA driver runs, as its major number, or None without a driver."""
    if (tool := shutil.which("nvidia-smi")) is None:
        return None
    told = subprocess.run([tool], capture_output=True, text=True, timeout=20, check=False).stdout
    version = re.search(r"CUDA Version:\s*(\d+)", told)
    return int(version[1]) if version else None


def _version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _installed(*packages):
    """'name version' of those that are installed, or None where there are none."""
    return ", ".join(f"{name} {version}" for name in packages if (version := _version(name))) or None
