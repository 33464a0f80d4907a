"""gpu_check.py itself, where there is no GPU: checks on the emulator, measurements with NumPy in CuPy's place."""

import json
import time
from types import SimpleNamespace

import gpu_check
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("emulated")


def test_the_checks_pass_on_the_emulator(capsys):
    results = gpu_check.run_checks("emulated")
    assert set(results) == {"ladder", "fused", "attention", "tiled", "ops", "views", "streams"}
    assert all(result["worst"] <= 1 for result in results.values()), results
    assert results["fused"]["cases"] == 66
    assert results["attention"]["cases"] == 54
    assert results["tiled"]["cases"] == 6
    assert "WRONG" not in capsys.readouterr().out


def test_a_wrong_kernel_and_an_exception_are_noticed(monkeypatch, capsys):
    def wrong(device):
        return {"fine": 0.1, "off": 3.0}

    def broken(device):
        raise ValueError("no such kernel")

    monkeypatch.setattr(gpu_check, "CHECKS", (wrong, broken))
    results = gpu_check.run_checks("emulated")
    assert results["wrong"] == {"worst": 3.0, "case": "off", "cases": 2}
    assert results["broken"]["worst"] == float("inf")
    assert "no such kernel" in results["broken"]["case"]
    assert capsys.readouterr().out.count("WRONG") == 2


class Event:
    def record(self):
        self.at = time.perf_counter()

    def synchronize(self):
        pass


def stand_in():
    """As much of CuPy as the measurements use, by NumPy."""
    cuda = SimpleNamespace(
        Event=Event,
        get_elapsed_time=lambda begin, end: (end.at - begin.at) * 1e3,
        Device=lambda: SimpleNamespace(mem_info=(2**34, 2**35)),
    )
    names = ("ones", "zeros", "empty", "empty_like", "asarray", "exp", "copyto")
    pool = SimpleNamespace(free_all_blocks=lambda: None)
    functions = {name: getattr(np, name) for name in names}
    return SimpleNamespace(**functions, cuda=cuda, get_default_memory_pool=lambda: pool)


def test_measurements_goals_and_figure(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu_check, "ROUNDS", 1)
    bandwidth = gpu_check.measure(stand_in(), sizes=(2**18, 2**19))
    assert len(bandwidth) == (11 + 3) * 2 * 5  # lengths in both sizes, dtypes, contenders
    assert all(0 < row["GB/s low"] <= row["GB/s"] <= row["GB/s high"] for row in bandwidth)
    for row in bandwidth:
        row["GB/s"] = {"copy": 100.0, "fused": 95.0}.get(row["contender"], 50.0)
    bandwidth[1]["GB/s"] = 80.0  # the first fused one
    found = gpu_check.goals(bandwidth)
    assert found == {"copy": {"goal": 0.9, "least": 0.8, "at": ["float32", 64, 2**18], "met": False}}
    path = tmp_path / "device.json"
    path.write_text(json.dumps({"machine": {"device": "No GPU"}, "bandwidth": bandwidth}))
    gpu_check.draw(path, tmp_path / "figures")
    assert (tmp_path / "figures" / "gpu_softmax.png").stat().st_size > 10_000
    assert "MISSED" in capsys.readouterr().out
