"""`tinyattn grade` and `tinyattn assignment`: classes, resuming, keys, stubs, packs, archives."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAIN = (
    "import sys; from tinyattn import lesson; from tinyattn.grading import cli; "
    "parser = lesson.Parser(prog='tinyattn'); cli.add_commands(parser.add_subparsers(required=True)); "
    "options = parser.parse_args(); sys.exit(options.run(options))"
)


@pytest.fixture
def students(a1, right, tmp_path):
    """Makes a class of right answers in which students may differ: students(ann=source)."""

    def make(count=0, **sources):
        folder = tmp_path / "class"
        for name, source in {**{f"s{i:03}": right for i in range(count)}, **sources}.items():
            (folder / name).mkdir(parents=True)
            (folder / name / a1.file).write_text(source)
        return folder

    return make


def test_the_assignment_is_known_by_its_file(a1, right, grade, tmp_path, tinyattn):
    (tmp_path / a1.file).write_text(right)
    assert grade(tmp_path)["assignment"] == "a1"
    assert grade(tmp_path / a1.file)["assignment"] == "a1"
    (tmp_path / "other.py").write_text(right)
    code, _, err = tinyattn("grade", tmp_path / "other.py")
    assert code == 2
    assert err.startswith("tinyattn: which assignment is this? Say --assignment a1")
    assert grade(tmp_path / "other.py", "--assignment", "a1")["score"] == 100


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.py", "--assignment", "a1"], "there is nothing at nowhere.py"),
        ([".", "--assignment", "a1"], "holds neither a1_four_steps.py nor folders"),
        ([".", "--assignment", "a99"], "there is no assignment 'a99'"),
        ([".", "--assignment", "a1", "-j", "0"], "-j/--jobs"),
        (["f.py", "--assignment", "a1", "--hidden", "nokey"], "the key file cannot be read"),
        (["f.py", "--assignment", "a1", "--hidden", "short"], "16 at least"),
    ],
)
def test_a_mistaken_call_is_one_sentence(arguments, sentence, tinyattn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "f.py" in arguments:
        Path("f.py").write_text("")
        Path("short").write_text("abc")
    code, out, err = tinyattn("grade", *arguments)
    assert code == 2
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_a_class_is_graded_in_order_and_kept(students, wrong, tinyattn, tmp_path):
    folder = students(3, ann=wrong("scale_missing"), zoe="")
    code, out, err = tinyattn(
        "grade", folder, "--assignment", "a1", "-j", "2", "--results", tmp_path / "kept", "--format", "json"
    )
    assert code == 0
    assert [each["submission"] for each in json.loads(out)] == ["ann", "s000", "s001", "s002", "zoe"]
    assert [each["score"] for each in json.loads(out)] == [88, 100, 100, 100, 0]
    assert len(err.splitlines()) == 6  # one for each, one for the files written


def test_what_was_graded_is_not_graded_again(students, wrong, tinyattn, tmp_path, monkeypatch):
    from tinyattn.grading import bulk

    graded = []
    real = bulk.grade_one

    def counting(assignment, submission, key, level):
        graded.append(submission.name)
        return real(assignment, submission, key, level)

    monkeypatch.setattr(bulk, "grade_one", counting)
    folder = students(2, ann=wrong("scale_missing"))
    run = ("grade", folder, "--assignment", "a1", "--results", tmp_path / "kept", "--format", "json")
    first = tinyattn(*run)[1]
    assert sorted(graded) == ["ann", "s000", "s001"]
    graded.clear()
    assert tinyattn(*run)[1] == first
    assert graded == []
    (folder / "ann" / "a1_four_steps.py").write_text(wrong("scale_by_d_k"))
    tinyattn(*run)
    assert graded == ["ann"]
    graded.clear()
    (next((tmp_path / "kept" / "results").glob("s000-*.json"))).write_text('{"cut": ')
    tinyattn(*run)
    assert graded == ["s000"]
    graded.clear()
    tinyattn(*run, "--hints", "place")
    assert sorted(graded) == ["ann", "s000", "s001"]


def test_a_crash_of_the_grader_stops_nothing(students, tinyattn, tmp_path, monkeypatch):
    from tinyattn.grading import bulk

    real = bulk.grade_one

    def crashing(assignment, submission, key, level):
        if submission.name == "s001":
            raise OSError("no more files")
        return real(assignment, submission, key, level)

    monkeypatch.setattr(bulk, "grade_one", crashing)
    folder = students(3)
    run = ("grade", folder, "--assignment", "a1", "--results", tmp_path / "kept", "--format", "json")
    results = json.loads(tinyattn(*run)[1])
    assert [each["score"] for each in results] == [100, 0, 100]
    assert results[1]["problem"] == "the grader failed (OSError: no more files); grade this submission again"
    monkeypatch.setattr(bulk, "grade_one", real)
    assert [each["score"] for each in json.loads(tinyattn(*run)[1])] == [100, 100, 100]


def test_an_interrupted_class_goes_on_where_it_stopped(students, tmp_path):
    folder = students(16)
    command = [
        sys.executable,
        "-c",
        MAIN,
        "grade",
        str(folder),
        "--assignment",
        "a1",
        "--results",
        str(tmp_path / "kept"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment) as process:
        for _ in range(3):
            process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    assert process.returncode != 0
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept" / "results").glob("*.json")}
    assert 3 <= len(kept) < 16
    time.sleep(0.05)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert "16 submissions" in done.stdout
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "kept" / "results").glob("*.json")}
    assert len(after) == 16
    assert {name: after[name] for name in kept} == kept


def test_a_key_changes_the_hidden_inputs_and_is_recorded_by_its_digest(a1, right, grade, tmp_path):
    (tmp_path / "key").write_text("0123456789abcdef0123456789abcdef\n")
    (tmp_path / "other").write_text("another key of enough letters\n")
    (tmp_path / a1.file).write_text(right)
    plain = grade(tmp_path / a1.file)
    keyed = grade(tmp_path / a1.file, "--hidden", tmp_path / "key")
    other = grade(tmp_path / a1.file, "--hidden", tmp_path / "other")
    assert [each["score"] for each in (plain, keyed, other)] == [100, 100, 100]
    assert plain["key"] == ""
    assert keyed["key"] != other["key"]
    assert "0123456789abcdef0123456789abcdef" not in json.dumps(keyed)
    assert keyed == grade(tmp_path / a1.file, "--hidden", tmp_path / "key")


def test_start_never_writes_over_a_file(a1, tinyattn, tmp_path):
    code, out, _ = tinyattn("assignment", "start", "a1", tmp_path)
    assert code == 0
    assert f"pytest --assignment a1 --submission {tmp_path / a1.file}" in out
    assert (tmp_path / a1.file).read_text() == a1.text("stub.py")
    (tmp_path / a1.file).write_text("my work")
    code, _, err = tinyattn("assignment", "start", "a1", tmp_path)
    assert code == 2
    assert "is there already" in err
    assert (tmp_path / a1.file).read_text() == "my work"
    assert tinyattn("assignment", "start", "a1", tmp_path / "no")[0] == 2
    assert tinyattn("assignment", "start", "a0", tmp_path)[0] == 2


def test_the_pack_for_students_holds_nothing_hidden(a1, tinyattn, tmp_path):
    code, out, _ = tinyattn("assignment", "release", "a1", tmp_path / "pack")
    assert code == 0
    assert len(out.splitlines()) == 3
    files = {path.name: path.read_text() for path in (tmp_path / "pack").iterdir()}
    assert set(files) == {a1.file, "handout.md", "examples.json"}
    examples = json.loads(files["examples.json"])
    public = {test.id for test in a1.tests if test.public}
    assert {each["test"] for each in examples} == public
    for line in a1.text("reference.py").splitlines():
        if line.startswith("    return"):
            assert line not in files[a1.file]
    assert tinyattn("assignment", "release", "a1", tmp_path / "pack")[0] == 2


def test_the_archive_for_gradescope_runs(a1, wrong, tinyattn, tmp_path):
    (tmp_path / "key").write_text("0123456789abcdef0123456789abcdef")
    path = tmp_path / "a1.zip"
    assert tinyattn("assignment", "zip", "a1", path, "--hidden", tmp_path / "key")[0] == 0
    assert tinyattn("assignment", "zip", "a1", path)[0] == 2
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        modes = {each.filename: each.external_attr >> 16 & 0o777 for each in archive.infolist()}
        archive.extractall(tmp_path / "source")
    assert {"setup.sh", "run_autograder", "key", "tinyattn/grading/worker.py"} <= set(names)
    assert modes["run_autograder"] == 0o755
    assert modes["key"] == 0o600
    assert not any("__pycache__" in name or name.startswith(("/", "..")) for name in names)
    script = (tmp_path / "source" / "run_autograder").read_text()
    for there, here in (
        ("/autograder/venv/bin/python -m tinyattn", f'{sys.executable} -c "{MAIN}"'),
        ("/autograder/", f"{tmp_path}/"),
    ):
        script = script.replace(there, here)
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / a1.file).write_text(wrong("scale_missing"))
    (tmp_path / "results").mkdir()
    (tmp_path / "submission_metadata.json").write_text("{}")
    subprocess.run(["bash", "-c", script], check=True)
    assert json.loads((tmp_path / "results" / "results.json").read_text())["score"] == 88


def test_list_names_the_assignments(a1, tinyattn):
    assert f"a1  {a1.title}" in tinyattn("assignment", "list")[1].splitlines()
