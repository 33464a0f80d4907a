"""The forms of a result, held against their schemas, and what a platform would make of them."""

import base64
import csv
import io
import json
from pathlib import Path

import pytest

from tinyattn.grading import report
from tinyattn.grading.grade import SUMMARY

SCHEMAS = Path(__file__).parent / "schemas"


def validate(value, schema, place="$"):
    """The part of JSON Schema that the schemas here use."""
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "null": type(None),
    }
    wanted = schema.get("type", list(kinds))
    wanted = [wanted] if isinstance(wanted, str) else wanted
    fits = [name for name in wanted if isinstance(value, kinds[name]) and (name == "boolean" or value is not True)]
    assert fits, f"{place} is {value!r}, not {wanted}"
    assert "enum" not in schema or value in schema["enum"], f"{place} is {value!r}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        assert value >= schema.get("minimum", value), f"{place} is {value}"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        assert set(schema.get("required", ())) <= set(value), f"{place} lacks {set(schema['required']) - set(value)}"
        if schema.get("additionalProperties") is False:
            assert set(value) <= set(known), f"{place} has {set(value) - set(known)}"
        for name, each in value.items():
            validate(each, known.get(name, {}), f"{place}.{name}")
    if isinstance(value, list):
        for i, each in enumerate(value):
            validate(each, schema.get("items", {}), f"{place}[{i}]")


def schema(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text())


SUBMISSIONS = ["right", "stub", "wrong", "syntax", "crash", "empty"]


@pytest.fixture(scope="session")
def files(a1, right, wrong, tmp_path_factory):
    """A class whose submissions end in every kind of way."""
    folder = tmp_path_factory.mktemp("class")
    sources = {
        "right": right,
        "stub": a1.text("stub.py"),
        "wrong": wrong("scale_by_d_k"),
        "syntax": "def (",
        "crash": "import os; os._exit(3)",
        "empty": "",
    }
    for name, source in sources.items():
        (folder / name).mkdir()
        (folder / name / a1.file).write_text(source)
    return folder


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_json(name, files, grade):
    result = grade(files / name, "--assignment", "a1")
    validate(result, schema("result"))
    assert result["score"] == sum(test["score"] for test in result["tests"])
    assert result["max_score"] == sum(test["max_score"] for test in result["tests"]) == 100
    assert (result["score"] == 100) == (name == "right")
    assert {test["status"] for test in result["tests"]} <= set(SUMMARY)
    assert bool(result["problem"]) == (name in ("syntax", "crash", "empty"))
    for test in result["tests"]:
        assert (test["score"] > 0) == (test["status"] == "pass")


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_gradescope(name, files, tinyattn):
    content = json.loads(tinyattn("grade", files / name, "--format", "gradescope")[1])
    validate(content, schema("gradescope"))
    assert content["score"] == sum(test["score"] for test in content["tests"])
    for test in content["tests"]:
        assert (test["status"] == "passed") == (test["score"] == test["max_score"])


def test_gradescope_keeps_the_score_of_the_submission_before(files, tinyattn, tmp_path):
    earlier = {"score": "63.0", "autograder_error": False, "results": {"tests": [{"name": "kept", "score": 63.0}]}}
    metadata = tmp_path / "metadata.json"
    metadata.write_text(json.dumps({"previous_submissions": [{"score": "1.0"}, earlier]}))
    kept = json.loads(tinyattn("grade", files / "syntax", "--format", "gradescope", "--metadata", metadata)[1])
    validate(kept, schema("gradescope"))
    assert kept["score"] == 63
    assert kept["tests"] == earlier["results"]["tests"]
    assert "SyntaxError" in kept["output"]
    counted = json.loads(tinyattn("grade", files / "wrong", "--format", "gradescope", "--metadata", metadata)[1])
    assert counted["score"] == 88
    metadata.write_text(json.dumps({"previous_submissions": []}))
    assert (
        json.loads(tinyattn("grade", files / "syntax", "--format", "gradescope", "--metadata", metadata)[1])["score"]
        == 0
    )


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_github_classroom(name, files, tinyattn, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    out = tinyattn("grade", files / name, "--format", "classroom")[1]
    content = json.loads(out)
    validate(content, schema("classroom"))
    points = sum(test["score"] for test in content["tests"])
    passed = sum(test["max_score"] for test in content["tests"] if test["status"] == "pass")
    assert points == passed
    line = (tmp_path / "output").read_text()
    assert base64.b64decode(line.removeprefix("result=")).decode() == out


def test_csv(files, tinyattn, tmp_path, a1):
    code, out, _ = tinyattn("grade", files, "--assignment", "a1", "--format", "csv", "--results", tmp_path / "grades")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["submission"] for row in rows] == sorted(SUBMISSIONS)
    assert {row["submission"]: row["score"] for row in rows}["wrong"] == "88"
    assert {row["submission"]: row["misconceptions"] for row in rows}["wrong"] == "scale_by_d_k"
    assert set(rows[0]) >= {test.id for test in a1.tests}


def test_cells_are_no_formulas(a1):
    result = {"submission": "=HYPERLINK(1)", "sha256": None, "score": 0, "max_score": 100, "problem": "@x"}
    tests = [{"id": test.id, "score": 0, "mistake": None} for test in a1.tests]
    row = list(csv.reader(io.StringIO(report.as_csv([result | {"tests": tests}], a1))))[1]
    assert row[0] == "'=HYPERLINK(1)"
    assert row[4] == "'@x"


def test_a_class_report_counts_misconceptions(files, tinyattn, tmp_path):
    code, out, err = tinyattn("grade", files, "--assignment", "a1", "-j", "2", "--results", tmp_path / "grades")
    assert code == 0
    assert "6 submissions" in out
    assert "median 0, highest 100 of 100" in out
    assert "1 ############################## scale_by_d_k" in out
    assert "crash: while loading the file: the code ended the program (exit status 3)" in out
    assert (tmp_path / "grades" / "report.txt").read_text() == out
    assert (tmp_path / "grades" / "misconceptions.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / "grades" / "results").glob("*.json"))) == 6
    assert "misconceptions.png" in err


def test_text_says_what_held_the_worker(files, tinyattn):
    out = tinyattn("grade", files / "wrong")[1]
    assert "88 of 100 points" in out
    assert "FAIL  scale_scores.values" in out
    assert "hint: " in out
    assert "protections: " in out


def test_questions_alone_do_not_name_the_misconception(files, tinyattn):
    out = tinyattn("grade", files / "wrong", "--hints", "question")[1]
    assert "what is its standard deviation?" in out
    assert "that must go" not in out
