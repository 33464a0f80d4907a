"""What an assignment folder says: its questions and tests, its reference, its bank of named wrong answers."""

import dataclasses
import fnmatch
import functools
import hashlib
import hmac
import importlib.util
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tinyattn.grading.compare import default_tolerance
from tinyattn.grading.process import Limits, Policy

PUBLIC_KEY = b"public"  # public tests draw the same inputs for everybody
LEVELS = ("question", "concept", "place")


class Call:
    """One call of a student's function: Call(query, key, mask=mask)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs

    def copy(self) -> "Call":
        """The same call on fresh copies of its arrays."""

        def fresh(value: Any) -> Any:
            if isinstance(value, tuple | list):
                return type(value)(fresh(each) for each in value)
            return value.copy() if isinstance(value, np.ndarray) else value

        return Call(*fresh(self.args), **{name: fresh(value) for name, value in self.kwargs.items()})

    def arrays(self) -> list[np.ndarray]:
        """Its arrays, in the order in which they travel."""

        def walk(value: Any) -> Iterator[np.ndarray]:
            if isinstance(value, tuple | list):
                for each in value:
                    yield from walk(each)
            elif isinstance(value, np.ndarray):
                yield value

        return list(walk([*self.args, *self.kwargs.values()]))


_modules = threading.RLock()  # held while sys.modules holds an assignment's modules

Probe = Callable[[np.random.Generator], Call]


@dataclass(frozen=True, eq=False)
class Test:
    """One line of the manifest: all of its points, or none.

    `probes` draw the calls, each from its own generator. `tolerance` is relative to the largest entry of a row; without
    one it follows the inputs' dtype. `memory` bounds the bytes that a call may add to the most that its process ever
    held; `counts` bounds what `worker.Meter` counts ("exp", "calls", "given", "complex"), as functions of the call.
    """

    name: str
    points: float
    probes: tuple[Probe, ...]
    public: bool = False
    about: str = ""
    tolerance: float | None = None
    memory: int | None = None
    counts: dict[str, Callable[[Call], int]] = field(default_factory=dict)
    seconds: float | None = None
    id: str = ""  # set by the question

    __test__ = False  # pytest collects by name

    @property
    def hundredths(self) -> int:
        return round(self.points * 100)


@dataclass(frozen=True, eq=False)
class Question:
    """One function of the student's, and its tests.

    `needs` are earlier functions: when a test fails, it is run again with the reference's in their place, and passes if
    either does. `trace` names the functions whose results are compared in order to say where a wrong answer leaves the
    reference. `gradient` says that the results are gradients, whose patterns `tinyattn.gradcheck` recognises.
    """

    function: str
    tests: tuple[Test, ...]
    needs: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    gradient: bool = False
    names: tuple[str, ...] = ()  # of the items, where the function returns a tuple

    def __post_init__(self) -> None:
        named = tuple(dataclasses.replace(test, id=f"{self.function}.{test.name}") for test in self.tests)
        object.__setattr__(self, "tests", named)


@dataclass(frozen=True)
class Answer:
    """What a function did with one call: a value or an exception (class, message); whether it wrote to its inputs."""

    value: Any = None
    raised: tuple[str, str] | None = None
    changed: bool = False


@dataclass(frozen=True)
class Solution:
    """Trusted source run in the grader: the reference, or a wrong answer laid over it."""

    space: types.ModuleType
    harness: types.ModuleType | None

    def function(self, name: str) -> Callable[..., Any]:
        if self.harness is not None and hasattr(self.harness, name):
            return functools.partial(getattr(self.harness, name), self.space)
        found: Callable[..., Any] = getattr(self.space, name)
        return found

    def answer(self, function: str, call: Call) -> Answer:
        """What it does with a copy of `call`."""
        used = call.copy()
        with np.errstate(all="ignore"):
            try:
                value = self.function(function)(*used.args, **used.kwargs)
            except Exception as error:
                return Answer(raised=(type(error).__name__, str(error)))
        same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(call.arrays(), used.arrays(), strict=True))
        return Answer(value, changed=not same)

    def steps(self, function: str, call: Call, names: tuple[str, ...]) -> list[tuple[str, Any]]:
        """What each of the named functions returned, in order, during one call."""
        noted: list[tuple[str, Any]] = []
        plain = {name: getattr(self.space, name) for name in names}

        def noting(name: str) -> Callable[..., Any]:
            def run(*args: Any, **kwargs: Any) -> Any:
                noted.append((name, plain[name](*args, **kwargs)))
                return noted[-1][1]

            return run

        vars(self.space).update({name: noting(name) for name in names})
        try:
            self.answer(function, call)
        finally:
            vars(self.space).update(plain)
        return noted


@dataclass(frozen=True)
class Mistake:
    """A named wrong answer from the bank. With `status`, what gives it away is that status, not its values."""

    name: str
    misconception: str
    hints: dict[str, str]
    loses: tuple[str, ...]
    source: str
    solution: Solution
    status: str = ""

    def predicted(self, assignment: "Assignment") -> set[str]:
        """The ids of the tests that it should lose."""
        ids = [test.id for test in assignment.tests]
        return {id for pattern in self.loses for id in fnmatch.filter(ids, pattern)}


@dataclass(frozen=True, eq=False)
class Case:
    """One call of a test, with what the reference answers and the relative error that is allowed."""

    test: Test
    call: Call
    expected: Answer
    relative: float

    @property
    def width(self) -> int:
        """The bytes an entry of the answer must have at least: those of the narrowest floating-point input."""
        return min((each.dtype.itemsize for each in self.call.arrays() if each.dtype.kind == "f"), default=8)


class Answers:
    """What a wrong answer makes of each of a question's calls, computed when it is first asked for."""

    def __init__(self, solution: Solution, function: str, cases: tuple[Case, ...]) -> None:
        self.solution, self.function, self.cases = solution, function, cases
        self.made: dict[int, Answer] = {}

    def __getitem__(self, index: int) -> Answer:
        if index not in self.made:
            self.made[index] = self.solution.answer(self.function, self.cases[index].call)
        return self.made[index]

    def __iter__(self) -> Iterator[Answer]:
        return (self[index] for index in range(len(self.cases)))


@dataclass(frozen=True, eq=False)
class Assignment:
    """An assignment: what is handed in, and how it is graded."""

    title: str
    file: str
    questions: tuple[Question, ...]
    limits: Limits = field(default_factory=Limits)
    policy: Policy | Callable[[], Policy] = field(default_factory=Policy)
    meter: bool = False
    builds_on: tuple[str, ...] = ()  # earlier assignments, whose files a student may import
    prepare: Callable[[str], str] | None = None  # makes the module to run of what is handed in; ValueError says why not
    obstacle: Callable[[], str] = str  # why it cannot be graded on this machine, in a sentence; empty if it can
    proof_keys: int = 5  # how many keys the proof draws inputs from; fewer where calls take long
    folder: Path = Path()

    @property
    def name(self) -> str:
        return self.folder.name.split("_")[0]

    @functools.cached_property
    def tests(self) -> tuple[Test, ...]:
        return tuple(test for question in self.questions for test in question.tests)

    @property
    def hundredths(self) -> int:
        return sum(test.hundredths for test in self.tests)

    def text(self, name: str) -> str:
        """The text of one of the folder's files; empty if it is not there."""
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @functools.cached_property
    def handed_out(self) -> dict[str, str]:
        """The modules that a student gets beside the stub, by name."""
        return {path.stem: path.read_text(encoding="utf-8") for path in sorted((self.folder / "given").glob("*.py"))}

    @functools.cached_property
    def given(self) -> dict[str, str]:
        """The modules that a student may import, by name: those handed out, right answers to earlier assignments."""
        earlier = {Path(each.file).stem: each.text("reference.py") for each in map(load, self.builds_on)}
        return earlier | self.handed_out

    def solution(self, *sources: str) -> Solution:
        """Trusted sources, each run in the namespace that the one before left."""
        if self.prepare is not None:
            sources = (self.prepare("\n\n".join(sources)),)
        harness = _run("harness", self.given, self.text("harness.py")) if self.text("harness.py") else None
        return Solution(_run("solution", self.given, *sources), harness)

    @functools.cached_property
    def reference(self) -> Solution:
        return self.solution(self.text("reference.py"))

    @functools.cached_property
    def bank(self) -> tuple[Mistake, ...]:
        """The named wrong answers, in the order of their file names."""
        return tuple(self._mistake(path) for path in sorted((self.folder / "wrong").glob("*.py")))

    def _mistake(self, path: Path) -> Mistake:
        source = path.read_text(encoding="utf-8")
        sources = self.text("reference.py"), source
        solution = self.solution(*sources)
        space = vars(solution.space if self.prepare is None else _run("mistake", self.given, *sources))
        sentence = " ".join((space["__doc__"] or "").split())
        if not sentence or set(space["HINTS"]) != set(LEVELS):
            raise ValueError(
                f"{path.name}: a wrong answer needs a docstring and HINTS with the keys {', '.join(LEVELS)}"
            )
        status = space.get("STATUS", "")
        return Mistake(path.stem, sentence, space["HINTS"], tuple(space["LOSES"]), source, solution, status)

    def cases(self, question: Question, key: bytes) -> tuple[Case, ...]:
        """Every call of a question, public tests first; the same for the same key on every machine."""
        if obstacle := self.obstacle():
            raise ValueError(obstacle)
        if (question.function, key) not in self._drawn:
            tests = sorted(question.tests, key=lambda test: not test.public)
            found = [self._case(test, i, key) for test in tests for i in range(len(test.probes))]
            self._drawn[question.function, key] = tuple(found)
        return self._drawn[question.function, key]

    def _case(self, test: Test, index: int, key: bytes) -> Case:
        secret = PUBLIC_KEY if test.public else key
        seed = hmac.digest(secret, f"{self.name}/{test.id}/{index}".encode(), "sha256")
        call = test.probes[index](np.random.default_rng(int.from_bytes(seed[:16])))
        expected = self.reference.answer(test.id.split(".")[0], call)
        if expected.raised is not None:
            raise RuntimeError(f"the reference fails on {test.id}: {': '.join(expected.raised)}")
        relative = test.tolerance or default_tolerance(call.arrays())
        return Case(test, call, expected, relative)

    def mistaken(self, question: Question, key: bytes, here: bool = True) -> list[tuple[Mistake, Answers]]:
        """What the bank makes of every call of a question: the mistakes that should lose tests of it, or all others.

        Those that show in a status are left out: their values are right, and they may take all memory or all time.
        """
        ids = {test.id for test in question.tests}
        if (question.function, key, here) not in self._mistaken:
            self._mistaken[question.function, key, here] = [
                (mistake, Answers(mistake.solution, question.function, self.cases(question, key)))
                for mistake in self.bank
                if bool(mistake.predicted(self) & ids) == here and not mistake.status
            ]
        return self._mistaken[question.function, key, here]

    @functools.cached_property
    def _drawn(self) -> dict[tuple[str, bytes], tuple[Case, ...]]:
        return {}

    @functools.cached_property
    def _mistaken(self) -> dict[tuple[str, bytes, bool], list[tuple[Mistake, Answers]]]:
        return {}

    @functools.cached_property
    def version(self) -> str:
        """A digest of everything that a grade depends on."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if not path.is_file() or path.suffix in (".md", ".pyc"):
                continue
            digest.update(str(path.relative_to(self.folder)).encode() + b"\0" + path.read_bytes())
        for earlier in map(load, self.builds_on):
            digest.update(earlier.version.encode())
        return digest.hexdigest()[:16]


def _run(name: str, given: dict[str, str], *sources: str) -> types.ModuleType:
    """A module made of sources, which may import the given modules while they run."""
    with _modules:
        return _run_alone(name, given, *sources)


def _run_alone(name: str, given: dict[str, str], *sources: str) -> types.ModuleType:
    module = types.ModuleType(name)
    kept = {each: sys.modules.get(each) for each in (*given, name)}
    try:
        sys.modules[name] = module  # dataclasses look their module up
        for each, source in given.items():
            sys.modules[each] = types.ModuleType(each)
            exec(compile(source, f"<{each}>", "exec"), vars(sys.modules[each]))
        for source in sources:
            exec(compile(source, f"<{name}>", "exec"), vars(module))
    finally:
        for each, before in kept.items():
            if before is None:
                sys.modules.pop(each, None)
            else:
                sys.modules[each] = before
    return module


def sizes(rng: np.random.Generator, count: int, low: int = 2, high: int = 12) -> list[int]:
    """Distinct sizes, so that no two axes of a probe can be confused."""
    return [int(size) for size in rng.permutation(np.arange(low, high))[:count]]


def assignments_folder() -> Path:
    """Where the assignments are: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    for place in (package / "lessons", package.parent / "lessons"):
        if (place / "assignments").is_dir():
            return place / "assignments"
    raise FileNotFoundError("the folder lessons/assignments is neither in the tinyattn package nor beside it")


def names() -> list[str]:
    """The names of all assignments: a1, a2, ..."""
    return [folder.name.split("_")[0] for folder in _folders()]


def _folders() -> list[Path]:
    return sorted(path.parent for path in assignments_folder().glob("a*_*/probes.py"))


@functools.cache
def load(name: str) -> Assignment:
    """The assignment called `name` ("a1", or its whole folder name)."""
    for folder in _folders():
        if name in (folder.name, folder.name.split("_")[0]):
            spec = importlib.util.spec_from_file_location(f"tinyattn_{folder.name}", folder / "probes.py")
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return dataclasses.replace(module.ASSIGNMENT, folder=folder)
    raise ValueError(f"there is no assignment {name!r}; there are {', '.join(names())}")
