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
from tinyattn.attention import blas
from tinyattn.backend import import_cupy

PIP = f"{sys.executable} -m pip install"


class Finding(NamedTuple):
    """What was found of one thing. Where it is missing: what it would enable, and the one command that brings it."""

    name: str
    found: str
    enables: str = ""
    command: str = ""
    needed: bool = False


def examine():
    """Prints the findings; returns 1 where something is missing that the lessons on the CPU need, else 0."""
    findings = [_python(), _arrays(), _figures(), _terminal(), _tests(), _compiler(), _gpu()]
    for finding in findings:
        print(f"{'missing' if finding.command else 'ok':9}{finding.name:10}{finding.found}")
        if finding.command:
            print(f"{'':19}would enable {finding.enables}:\n{'':19}{finding.command}")
    return int(any(finding.needed and finding.command for finding in findings))


def _python():
    where = f"{platform.system()} {platform.machine()}, {sys.executable}"
    return Finding(
        "Python", f"{platform.python_version()} on {where}, {_installed('tinyattn') or 'no tinyattn'} installed"
    )


def _arrays():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding("arrays", f"numpy {np.__version__}, BLAS {blas.described()} on {cores} cores")


def _figures():
    if (found := _installed("matplotlib")) is None:
        return Finding("figures", "no matplotlib", "the lessons' figures", f"{PIP} matplotlib", needed=True)
    from tinyattn import plot

    backend, has_windows = plot.window_system()
    return Finding("figures", f"{found}, backend {backend} ({'' if has_windows else 'no '}windows for lessons --show)")


def _terminal():
    if found := _installed("rich"):
        return Finding("terminal", found)
    return Finding("terminal", "no rich", "the command tinyattn lessons", f"{PIP} rich", needed=True)


def _tests():
    absent = " ".join(name for name in ("pytest", "hypothesis") if not _version(name))
    found = _installed("pytest", "hypothesis") or "no pytest"
    return Finding("tests", found, "the tests, and grading by pytest", absent and f"{PIP} {absent}")


def _compiler():
    there, reason = emulator.available()
    if there:
        return Finding("compiler", reason)
    command = "apt-get install g++" if sys.platform == "linux" else "wsl --install"
    return Finding("compiler", "none for Linux", "the CUDA kernels on the CPU (--device emulated)", command)


def _gpu():
    enables = "all of it on an NVIDIA GPU (--device cuda)"
    cupy = next(filter(None, map(_installed, ("cupy-cuda13x", "cupy-cuda12x", "cupy"))), None)
    driver = _driver()
    if cupy is None:
        found = f"no CuPy, {'no NVIDIA driver' if driver is None else f'a driver for CUDA {driver}'}"
        return Finding("GPU", found, enables, f"{PIP} cupy-cuda{12 if driver == 12 else 13}x")
    try:
        device = import_cupy().cuda.Device()
        name = import_cupy().cuda.runtime.getDeviceProperties(device.id)["name"].decode()
    except Exception as error:  # CuPy without a working driver raises errors of many kinds
        return Finding("GPU", f"{cupy}, but {error}", enables, "apt-get install nvidia-driver")
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
