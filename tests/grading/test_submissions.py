"""Odd files: one clear line each, nothing lost, nothing read that should not be."""

import os
import stat
import zipfile

import pytest

from tinyattn.grading.submissions import find, one, read, shown

FILE = "a1_four_steps.py"
SOURCE = b"def scores(query, key):\n    return 1\n"


def problem_of(path):
    submission = read(path, FILE)
    assert submission.source is None
    assert submission.sha256 is None
    assert submission.problem.isprintable()
    return submission.problem


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members:
            out.writestr(name, content)
    return path


def test_a_file_a_folder_and_an_archive_hold_the_same_submission(tmp_path):
    (tmp_path / "given.py").write_bytes(SOURCE)
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "folder" / "inner" / FILE).write_bytes(SOURCE)
    packed = archive(
        tmp_path / "packed.zip", [("top/notes.txt", b"x"), (f"top/{FILE}", SOURCE), (f"__MACOSX/{FILE}", b"y")]
    )
    found = [read(path, FILE) for path in (tmp_path / "given.py", tmp_path / "folder", packed)]
    assert [each.source for each in found] == [SOURCE] * 3
    assert len({each.sha256 for each in found}) == 1


def test_a_folder_as_the_file(tmp_path):
    (tmp_path / FILE).mkdir()
    assert problem_of(tmp_path) == f"{FILE} is a folder, not a file"


def test_an_empty_file_keeps_its_digest(tmp_path):
    (tmp_path / FILE).write_bytes(b" \n")
    submission = read(tmp_path, FILE)
    assert submission.problem == "the file is empty"
    assert submission.sha256 is not None


def test_a_wrong_name_says_what_is_there(tmp_path):
    (tmp_path / "solution.py").write_bytes(SOURCE)
    assert problem_of(tmp_path) == f"there is no file named {FILE}; it holds solution.py"


def test_two_files_of_the_name(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_bytes(SOURCE)
    assert problem_of(tmp_path) == f"there are 2 files named {FILE}"


def test_a_file_of_200_megabytes_is_not_read(tmp_path):
    with (tmp_path / FILE).open("wb") as file:
        file.truncate(200_000_000)
    assert problem_of(tmp_path) == "it has 200 MB; at most 1 MB are read"


@pytest.mark.parametrize("target", ["/etc/passwd", "../elsewhere.py", "nowhere"])
def test_links_are_refused(tmp_path, target):
    (tmp_path / "elsewhere.py").write_bytes(SOURCE)
    folder = tmp_path / "student"
    folder.mkdir()
    (folder / FILE).symlink_to(target)
    assert "link" in problem_of(folder)
    assert "link" in problem_of(folder / FILE)


def test_a_linked_folder_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / FILE).write_bytes(SOURCE)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "student").symlink_to(tmp_path / "real")
    (submission,) = find(tmp_path / "class", FILE)
    assert "link" in submission.problem


def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / FILE)
    assert problem_of(tmp_path) == "it is not a regular file"


@pytest.mark.parametrize("name", [f"../{FILE}", f"/tmp/{FILE}", f"a/../../{FILE}", f"..\\{FILE}", f"C:{FILE}"])
def test_archives_with_paths_that_leave_them(tmp_path, name):
    path = archive(tmp_path / "a.zip", [(FILE, SOURCE), (name, SOURCE)])
    assert "leaves it" in problem_of(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.zip"]


def test_an_archive_with_a_link(tmp_path):
    entry = zipfile.ZipInfo(FILE)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = archive(tmp_path / "a.zip", [(entry, b"/etc/passwd")])
    assert "holds a link" in problem_of(path)


def test_an_archive_that_unpacks_to_a_gigabyte(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as out, out.open(FILE, "w") as member:
        for _ in range(200):
            member.write(bytes(1 << 20))
    assert "larger than" in problem_of(tmp_path / "a.zip")


def test_an_archive_of_very_many_files(tmp_path):
    path = archive(tmp_path / "a.zip", [(f"{i}.py", b"") for i in range(1001)])
    assert "1001 files" in problem_of(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive at all", b"PK\x05\x06" + bytes(18)])
def test_archives_that_are_none(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    assert problem_of(tmp_path / "a.zip")


def test_a_cut_archive(tmp_path):
    path = archive(tmp_path / "a.zip", [(FILE, SOURCE * 50)])
    path.write_bytes(path.read_bytes()[:-40])
    assert problem_of(path)
    path = archive(tmp_path / "b.zip", [(FILE, os.urandom(5000))])
    path.write_bytes(path.read_bytes().replace(FILE.encode() + path.read_bytes()[43:60], FILE.encode() + bytes(17), 1))
    assert read(path, FILE).problem or read(path, FILE).source


@pytest.mark.parametrize("name", [b"new\nline", b"not-\xff-utf8", "\u202eright-to-left".encode(), b"\x1b[31mred"])
def test_names_are_shown_on_one_printable_line(tmp_path, name):
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    with open(os.path.join(folder, FILE.encode()), "wb") as file:
        file.write(SOURCE)
    (submission,) = find(tmp_path, FILE)
    assert submission.source == SOURCE
    assert submission.name.isprintable()
    assert submission.name.isascii()
    assert shown(b"plain-\xc3\xa9") == "plain-é"


def test_a_class_has_one_submission_for_each_student(tmp_path):
    for name in ("zoe", "ann", "bob"):
        (tmp_path / name).mkdir()
    (tmp_path / "ann" / FILE).write_bytes(SOURCE)
    (tmp_path / "eve.py").write_bytes(SOURCE)
    archive(tmp_path / "kim.zip", [(FILE, SOURCE)])
    (tmp_path / "notes.txt").write_bytes(b"not a submission")
    (tmp_path / ".git").mkdir()
    found = find(tmp_path, FILE)
    assert [each.name for each in found] == ["ann", "bob", "eve.py", "kim.zip", "zoe"]
    assert [bool(each.problem) for each in found] == [False, True, False, False, True]
    with pytest.raises(ValueError, match="5 submissions"):
        one(tmp_path, FILE)


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing at"):
        find(tmp_path / "no", FILE)
    with pytest.raises(FileNotFoundError, match="neither"):
        find(tmp_path, FILE)


def test_an_unreadable_file_is_one_line(tmp_path, monkeypatch):
    (tmp_path / FILE).write_bytes(SOURCE)

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert problem_of(tmp_path) == "it cannot be read: Permission denied"
