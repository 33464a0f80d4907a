"""pytest as the interface: items from the manifest, pytest's own options, no student code in pytest's process."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run_pytest(tmp_path):
    """Runs pytest in an empty folder with the plugin of this checkout."""

    def run(*arguments, folder=tmp_path):
        # an installed copy of the plugin would add the same options
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:tinyattn_pytest",
            "-p",
            "tinyattn.grading.plugin",
            *arguments,
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-p no:cacheprovider"}
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=120)

    return run


def test_every_test_of_the_manifest_is_an_item(a1, right, wrong, run_pytest, tmp_path):
    (tmp_path / a1.file).write_text(right)
    done = run_pytest("--assignment", "a1", "--submission", a1.file, "-v")
    assert done.returncode == 0, done.stdout
    for test in a1.tests:
        assert f"{a1.file}::{test.id} PASSED" in done.stdout
    assert "100 of 100 points in the tests that ran" in done.stdout
    assert "protections: " in done.stdout
    (tmp_path / a1.file).write_text(wrong("softmax_mask_inverted"))
    done = run_pytest("--assignment", "a1", "--submission", a1.file, "--junitxml", "report.xml", "--hints", "place")
    assert done.returncode == 1
    assert "The mask is read the wrong way round" in done.stdout
    assert "use ~mask" in done.stdout
    suite = ElementTree.parse(tmp_path / "report.xml").getroot()[0]
    assert suite.get("tests") == "31"
    assert suite.get("failures") == "6"
    assert suite.get("skipped") == "0"


def test_pytests_own_options_choose_tests(a1, wrong, run_pytest, tmp_path):
    (tmp_path / a1.file).write_text(wrong("softmax_mask_inverted"))
    done = run_pytest("--assignment", "a1", "--submission", a1.file, "-k", "weighted_sum")
    assert done.returncode == 0
    assert "4 passed, 27 deselected" in done.stdout
    assert "13 of 13 points" in done.stdout
    done = run_pytest("--assignment", "a1", "--submission", a1.file, "-x")
    assert "1 failed, 11 passed" in done.stdout
    done = run_pytest("--assignment", "a1", "--submission", a1.file, f"{a1.file}::scores.values")
    assert "1 passed" in done.stdout


def test_students_files_are_not_imported(a1, run_pytest, tmp_path):
    (tmp_path / a1.file).write_text("raise SystemExit(0)")
    for name in ("conftest.py", "test_extra.py", "numpy.py", "sitecustomize.py"):
        (tmp_path / name).write_text("open('imported', 'w')\n\ndef test_free_points(): pass\n")
    done = run_pytest("--assignment", "a1", "--submission", str(tmp_path), folder=ROOT / "figures")
    assert done.returncode == 1
    assert "31 failed" in done.stdout
    assert not (tmp_path / "imported").exists()
    (tmp_path / "numpy.py").unlink()
    (tmp_path / "sitecustomize.py").unlink()
    done = run_pytest("--assignment", "a1", "--submission", a1.file)
    assert "31 failed" in done.stdout
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--assignment", "a1"], "--assignment needs --submission FILE"),
        (["--assignment", "a1", "--submission", "nowhere.py"], "there is nothing at nowhere.py"),
        (["--assignment", "a99", "--submission", "f.py"], "there is no assignment 'a99'"),
        (["--assignment", "a1", "--submission", "f.py", "--hidden", "no"], "the key file cannot be read"),
    ],
)
def test_a_mistaken_call_is_one_sentence(arguments, sentence, run_pytest, tmp_path):
    (tmp_path / "f.py").write_text("")
    done = run_pytest(*arguments)
    assert done.returncode == 4
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_folder_without_the_file_fails_every_test_with_one_line(a1, run_pytest, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "solution.zip").write_bytes(b"no archive")
    done = run_pytest("--assignment", "a1", "--submission", "in/solution.zip", "--tb", "line")
    assert "31 failed" in done.stdout
    assert "the archive cannot be read" in done.stdout
    assert "Traceback" not in done.stdout


def test_without_an_assignment_the_plugin_costs_nothing(tmp_path):
    """As installed: a module of its own, which imports neither tinyattn nor NumPy."""
    (tmp_path / "tinyattn_pytest.py").write_text((ROOT / "tinyattn" / "grading" / "plugin.py").read_text())
    (tmp_path / "test_one.py").write_text(
        "import sys\ndef test_one():\n"
        "    assert not {'numpy', 'tinyattn'} & {name.split('.')[0] for name in sys.modules}\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:hypothesispytest",
        "-p",
        "tinyattn_pytest",
        "test_one.py",
    ]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
