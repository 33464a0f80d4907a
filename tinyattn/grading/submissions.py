"""Finds what students handed in. What cannot be graded becomes one clear line, never an error of the grader's."""

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

FILE_LIMIT = 1 << 20
ARCHIVE_LIMIT = 20 << 20
Found = TypeVar("Found")
ENTRY_LIMIT = 1000
DEPTH_LIMIT = 3


@dataclass(frozen=True)
class Submission:
    """One submission: its source, or the problem that keeps it from being graded. `name` is safe to print."""

    name: str
    source: bytes | None = None
    problem: str = ""

    @property
    def sha256(self) -> str | None:
        return None if self.source is None else hashlib.sha256(self.source).hexdigest()


class Unreadable(Exception):
    """Why a submission cannot be graded, in one line."""


def shown(name: str | os.PathLike[str]) -> str:
    """A file name on one line, of printable characters: others, and bytes that are not UTF-8, as escapes."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return safe if len(safe) <= 160 else safe[:157] + "..."


def find(path: Path, file: str) -> list[Submission]:
    """The submissions at `path`: a file, a zip archive, a folder that holds `file`, or a folder of such (a class)."""
    if not os.path.lexists(path):
        raise FileNotFoundError(f"there is nothing at {shown(path)}")
    if not path.is_dir():
        return [read(path, file)]
    if (path / file).exists() or (path / file).is_symlink():
        return [read(path, file)]
    entries = sorted(path.iterdir(), key=os.fsencode)
    listed = [entry for entry in entries if _counts(entry, file)]
    if not listed:
        raise FileNotFoundError(
            f"{shown(path)} holds neither {file} nor folders, .py files or .zip archives of students"
        )
    return [read(entry, file, name=entry.name) for entry in listed]


def one(path: Path, file: str) -> Submission:
    """The single submission at `path`; ValueError for a class."""
    found = find(path, file)
    if len(found) != 1:
        raise ValueError(f"{shown(path)} holds {len(found)} submissions; give one of them, or use: tinyattn grade")
    return found[0]


def _counts(entry: Path, file: str) -> bool:
    """Whether an entry of a class folder is somebody's submission."""
    hidden = entry.name.startswith((".", "__"))
    return not hidden and (entry.is_dir() or entry.suffix in (".py", ".zip", Path(file).suffix) or entry.is_symlink())


def read(path: Path, file: str, name: str | None = None) -> Submission:
    """The submission at `path`."""
    label = shown(path.name if name is None else name)
    try:
        if path.is_symlink():
            raise Unreadable("it is a link; hand in the file itself")
        if path.is_dir():
            source = _from_folder(path, file)
        elif path.suffix == ".zip":
            source = _from_archive(path, file)
        else:
            source = _from_file(path)
    except Unreadable as problem:
        return Submission(label, None, str(problem))
    except OSError as error:
        return Submission(label, None, f"it cannot be read: {error.strerror}")
    return Submission(label, source, "" if source.strip() else "the file is empty")


def _from_file(path: Path, limit: int = FILE_LIMIT) -> bytes:
    """The bytes of a regular file, opened so that neither a link, a pipe nor a device can be put in its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as handle:
        status = os.fstat(handle.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not a regular file")
        if status.st_size > limit:
            raise Unreadable(f"it has {status.st_size / 1e6:.0f} MB; at most {limit / 1e6:.0f} MB are read")
        return handle.read(limit)


def _from_folder(folder: Path, file: str) -> bytes:
    """The one file called `file` in a folder; links are not followed, extra files are not looked at."""
    found: list[Path] = []
    others: list[str] = []
    for entry in _walk(folder):
        if entry.name == file:
            found.append(entry)
        elif entry.suffix == Path(file).suffix:
            others.append(shown(entry.name))
    path = _only(found, [len(each.parts) for each in found], others, file)
    if path.is_symlink():
        raise Unreadable(f"{file} is a link; hand in the file itself")
    if path.is_dir():
        raise Unreadable(f"{file} is a folder, not a file")
    return _from_file(path)


def _walk(folder: Path, depth: int = 0) -> Iterator[Path]:
    for count, entry in enumerate(os.scandir(folder)):
        if count >= ENTRY_LIMIT * 20:
            raise Unreadable(f"it holds more than {count} files")
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False) and depth < DEPTH_LIMIT and not entry.name.startswith((".", "__")):
            yield from _walk(Path(entry.path), depth + 1)


def _only(found: list[Found], depths: list[int], others: list[str], file: str) -> Found:
    """The one found least deep."""
    if not found:
        seen = f"; it holds {', '.join(sorted(others)[:3])}" if others else ""
        raise Unreadable(f"there is no file named {file}{seen}")
    best = [each for each, depth in zip(found, depths, strict=True) if depth == min(depths)]
    if len(best) > 1:
        raise Unreadable(f"there are {len(best)} files named {file}")
    return best[0]


def _from_archive(path: Path, file: str) -> bytes:
    """The one file called `file` in a zip archive, read in memory: nothing is ever extracted."""
    _from_file(path, ARCHIVE_LIMIT)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > ENTRY_LIMIT:
                raise Unreadable(f"the archive holds {len(members)} files; at most {ENTRY_LIMIT} are looked at")
            for member in members:
                parts = PurePosixPath(member.filename.replace("\\", "/"))
                if parts.is_absolute() or ".." in parts.parts or ":" in member.filename:
                    raise Unreadable(f"the archive holds a path that leaves it: {shown(member.filename)}")
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise Unreadable(f"the archive holds a link: {shown(member.filename)}")
            real = [each for each in members if not each.is_dir() and not each.filename.startswith("__MACOSX")]
            found = [each for each in real if PurePosixPath(each.filename).name == file]
            others = [shown(each.filename) for each in real if each.filename.endswith(Path(file).suffix)]
            member = _only(found, [each.filename.count("/") for each in found], others, file)
            with archive.open(member) as handle:
                source = handle.read(FILE_LIMIT + 1)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        raise Unreadable(f"the archive cannot be read: {str(error)[:100]}") from error
    if len(source) > FILE_LIMIT:
        raise Unreadable(f"{file} in the archive is larger than {FILE_LIMIT / 1e6:.0f} MB")
    return source
