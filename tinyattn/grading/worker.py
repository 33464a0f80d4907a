"""The untrusted side: runs one student's file, away from the grader, and answers calls with arrays.

Started as a script (`python -s -S -P worker.py`), never imported by the grader. It learns nothing but the student's
source and the inputs of each call: no expected value, seed, score or test is ever in this process. Three generations:
the nursery has NumPy loaded and forks (a start costs milliseconds); a warden stays outside the sandbox and ends
everything inside when the grader closes the control pipe, or dies; its child gives up its rights and runs the student.
"""

import hashlib
import importlib.util
import math
import os
import select
import signal
import socket
import struct
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any


def sibling(name: str) -> Any:
    """A module beside this file; the folder itself stays off the student's path."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def quietly(function: Callable[..., Any], *args: Any) -> str:
    """What `function` returns, as a short string; a student's own __str__ may raise."""
    try:
        return str(function(*args))[:500]
    except BaseException:
        return ""


def describe(error: BaseException, file: str) -> dict[str, Any]:
    """How a call into student code ended when it did not return: class, message, last line in `file`."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == file:
        line = error.lineno
    return {
        "raised": [kind.__name__[:80] for kind in type(error).__mro__][:12],
        "message": quietly(str, error.msg if isinstance(error, SyntaxError) else error),
        "line": line if isinstance(line, int) else None,
        "module": quietly(str, error.name) if isinstance(error, ImportError) else None,
    }


class Meter:
    """Counts entries through exp and its kin, calls of the student's and of given functions, and complex values."""

    def __init__(self, numpy: Any, file: str, given: set[str]) -> None:
        self.file, self.given, self.counts = file, given, {"exp": 0, "calls": 0, "given": 0, "complex": 0}
        for module, names in ((numpy, ("exp", "exp2", "expm1", "power")), (math, ("exp", "exp2", "expm1", "pow"))):
            for name in names:
                if hasattr(module, name):
                    setattr(module, name, self.counted(getattr(module, name)))
        self.complex = complex, numpy.complexfloating
        self.ndarray = numpy.ndarray

    def counted(self, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            self.counts["exp"] += getattr(result, "size", 1)
            self.counts["complex"] += getattr(getattr(result, "dtype", None), "kind", "") == "c"
            return result

        return call

    def __call__(self, frame: Any, event: str, value: Any) -> None:
        file = frame.f_code.co_filename
        if event == "return" and file in self.given:
            self.counts["given"] += 1
        elif event == "return" and file == self.file:
            self.counts["calls"] += 1
            held = (value, *frame.f_locals.values(), *frame.f_code.co_consts)
            self.counts["complex"] += any(self.is_complex(each) for each in held)

    def is_complex(self, value: Any) -> bool:
        if isinstance(value, self.ndarray):
            return bool(value.dtype.kind == "c")
        return isinstance(value, self.complex)


class Student:
    """The student's module, with the functions that a call may ask for."""

    def __init__(self, setup: dict[str, Any], wire: Any) -> None:
        self.file, self.wire, self.limit = setup["file"], wire, setup["reply_limit"]
        self.arrays = sys.modules["numpy"]
        sys.path.extend(setup["policy"]["modules"])
        self.digest = hashlib.blake2b
        for name, source in setup["given"].items():
            self.module(name, source, f"<{name}>")
        given = {f"<{name}>" for name in setup["given"]}
        self.meter = Meter(self.arrays, self.file, given) if setup["meter"] else None
        self.student = types.ModuleType("submission")
        sys.modules["submission"] = self.student
        self.student.__dict__["__file__"] = self.file
        exec(compile(setup["source"].encode("latin-1"), self.file, "exec", dont_inherit=True), self.student.__dict__)
        if setup["replace"]:
            reference = self.module("reference", setup["reference"], "<reference>")
            del sys.modules["reference"]
            for name in setup["replace"]:
                self.student.__dict__[name] = reference.__dict__[name]
        self.harness = self.module("harness", setup["harness"], "<harness>") if setup["harness"] else None

    def module(self, name: str, source: str, file: str) -> types.ModuleType:
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
        return module

    def function(self, name: str) -> Callable[..., Any] | None:
        if self.harness is not None and hasattr(self.harness, name):
            play = getattr(self.harness, name)
            return lambda *args, **kwargs: play(self.student, *args, **kwargs)
        found = self.student.__dict__.get(name)
        return found if callable(found) else None

    def traced(self, names: list[str], steps: list[list[Any]], arrays: list[Any]) -> dict[str, Any]:
        """The named functions of the student's module, replaced by ones that note what they return."""

        def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                result = function(*args, **kwargs)
                if len(steps) < 32:
                    steps.append([name, self.wire.encode(result, arrays, self.limit)])
                return result

            return call

        space = self.student.__dict__
        return {name: noting(name, space[name]) for name in names if callable(space.get(name))}

    def answer(self, header: dict[str, Any], inputs: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """The reply to one call."""
        function = self.function(header["function"])
        if function is None:
            return {"missing": header["function"]}, []
        args, kwargs = self.wire.decode(header["args"], inputs), {}
        for name, tree in header["kwargs"].items():
            kwargs[name] = self.wire.decode(tree, inputs)
        steps: list[list[Any]] = []
        arrays: list[Any] = []
        plain = {}
        if header["trace"]:
            wrapped = self.traced(header["trace"], steps, arrays)
            plain = {name: self.student.__dict__[name] for name in wrapped}
            self.student.__dict__.update(wrapped)
        if self.meter is not None:
            self.meter.counts = dict.fromkeys(self.meter.counts, 0)
            sys.setprofile(self.meter)
        try:
            result = function(*args, **kwargs)
        finally:
            sys.setprofile(None)
            self.student.__dict__.update(plain)
        reply = {
            "value": self.wire.encode(result, arrays, self.limit),
            "inputs": [self.digest(self.arrays.ascontiguousarray(each).tobytes()).hexdigest() for each in inputs],
            "steps": steps,
            "counts": self.meter.counts if self.meter is not None else {},
        }
        return reply, arrays


def serve(setup: dict[str, Any], wire: Any, active: list[str], read: Callable[[int], bytes], write: Any) -> None:
    """Loads the student's file, then answers calls until the grader hangs up."""
    write(wire.pack({"protections": active}))
    try:
        student = Student(setup, wire)
    except BaseException as error:  # SystemExit and KeyboardInterrupt are answers here like any other
        write(wire.pack(describe(error, setup["file"])))
        return
    write(wire.pack({"loaded": True}))
    while True:
        header, inputs = wire.unpack(read)
        try:
            reply, arrays = student.answer(header, inputs)
        except BaseException as error:
            reply, arrays = describe(error, setup["file"]), []
        for stream in (sys.stdout, sys.stderr):
            quietly(lambda stream=stream: stream.flush())
        write(wire.pack({"number": header["number"], **reply}, arrays))


def guard(child: int, control: int) -> int:
    """Waits for the child or for the grader to hang up, ends the child and all it left behind; its wait status."""
    poll = select.poll()
    poll.register(control, select.POLLIN | select.POLLHUP)
    patience = None
    try:
        poll.register(os.pidfd_open(child), select.POLLIN)
    except (OSError, AttributeError):  # before Linux 5.3, or another system: look ten times a second
        patience = 100
    ended, status = 0, 0
    while not ended:
        heard = {descriptor for descriptor, _ in poll.poll(patience)}
        ended, status = os.waitpid(child, os.WNOHANG)
        if control in heard and not ended:
            os.kill(child, signal.SIGKILL)
            ended, status = os.waitpid(child, 0)
    orphans = Path(f"/proc/self/task/{os.getpid()}/children")
    while orphans.exists() and (left := orphans.read_text().split()):  # what the child left behind is ours by adoption
        for orphan in left:
            os.kill(int(orphan), signal.SIGKILL)
            os.waitpid(int(orphan), 0)
    return status


def warden(wire: Any, sandbox: Any, packages: list[str], pipes: list[int], folder: str) -> None:
    """Starts one worker in its own session and sandbox, waits for its end, and reports its wait status."""
    requests_end, replies, printed, control, status = pipes
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(folder)
    os.write(status, struct.pack("<q", os.getpid()))
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.close(printed)
    requests = os.fdopen(requests_end, "rb")

    def read(size: int) -> bytes:
        data = requests.read(size)
        if len(data) < size:
            os._exit(0)
        return data

    def write(frame: bytes) -> None:
        view = memoryview(frame)
        while view:
            view = view[os.write(replies, view) :]

    setup, _ = wire.unpack(read)
    policy = setup["policy"]
    active = sandbox.namespaces() if policy["namespaces"] else []
    sandbox.adopt_orphans()
    child = os.fork()
    if child == 0:
        os.close(control)
        os.close(status)
        active += sandbox.confine(policy, folder, packages, separate=bool(active))
        del sys.modules["sandbox"], sys.modules["wire"]
        serve(setup, wire, active, read, write)
        os._exit(0)
    requests.close()
    for descriptor in (replies, 0, 1, 2):
        os.close(descriptor)
    os.write(status, struct.pack("<q", guard(child, control)))


def main() -> None:
    """The nursery: imports NumPy once, then forks a warden for each request of the grader's."""
    line, packages = socket.socket(fileno=int(sys.argv[1])), sys.argv[2].split(os.pathsep)
    sys.dont_write_bytecode = True
    sys.argv[1:] = []
    sys.path.append(packages[0])
    sandbox, wire = sibling("sandbox"), sibling("wire")
    sys.path.remove(packages[0])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    line.send(b"ready")
    while True:
        folder, pipes, _, _ = socket.recv_fds(line, 4096, 5)
        if not folder:
            return
        if os.fork() == 0:
            line.close()  # no student code may ever ask for a worker
            try:
                warden(wire, sandbox, packages[1:], pipes, folder.decode())
            finally:
                os._exit(0)
        for pipe in pipes:
            os.close(pipe)
        line.send(b"done")


if __name__ == "__main__":
    main()
