"""The grader's side of a worker: start it, ask it, and end it whatever it does."""

import atexit
import contextlib
import hashlib
import importlib.util
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tinyattn.grading import wire

TEXT_KEPT = 5000  # bytes of a student's printed text kept from each end


@dataclass(frozen=True)
class Limits:
    """What a worker may use. Seconds are wall-clock; `memory` is address space in bytes."""

    load: float = 5.0
    call: float = 3.0
    start: float = 30.0
    memory: int | None = 1 << 30
    processor: int = 30
    scratch_mib: int = 4


@dataclass(frozen=True)
class Policy:
    """What a worker may do beyond the usual: `read` more paths, import from more folders, write in its own folder,
    run programs (a compiler)."""

    read: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    scratch: bool = False
    run_programs: bool = False
    namespaces: bool = True


@dataclass(frozen=True)
class Ended:
    """Why no answer came: status is "timeout", "crashed" or "bad reply"."""

    status: str
    line: str


@dataclass
class Text:
    """The head and the tail of what a student's code printed."""

    head: bytes = b""
    tail: bytes = b""
    total: int = 0

    def add(self, data: bytes) -> None:
        room = TEXT_KEPT - len(self.head)
        self.total += len(data)
        self.head += data[:room]
        self.tail = (self.tail + data[room:])[-TEXT_KEPT:] if len(data) > room else self.tail

    def take(self) -> bytes:
        cut = self.total - len(self.head) - len(self.tail)
        text = self.head + (f"\n... {cut} bytes cut ...\n".encode() if cut else b"") + self.tail
        self.head, self.tail, self.total = b"", b"", 0
        return text


def packages() -> list[str]:
    """The folder that holds NumPy, then the folders it needs: all that a worker sees of the installed packages."""
    spec = importlib.util.find_spec("numpy")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    needed = [folder, folder.with_name("numpy.libs")]
    return [str(folder.parent), *(str(path) for path in needed if path.is_dir())]


class Nursery:
    """The process that has NumPy loaded and forks the workers; one for this process, started when first needed."""

    lock = threading.Lock()
    process: subprocess.Popen[bytes] | None = None
    line: socket.socket

    @classmethod
    def start(cls) -> None:
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            **dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"),
        }
        cls.line, theirs = socket.socketpair()
        script = str(Path(__file__).with_name("worker.py"))
        # -s -S -P: no user site, no site-packages, no folder of the script: only the standard library can be imported.
        command = [sys.executable, "-s", "-S", "-P", script, str(theirs.fileno()), os.pathsep.join(packages())]
        with theirs, tempfile.TemporaryFile() as log:
            cls.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd="/",
                env=environment,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
            theirs.close()
            cls.line.settimeout(60)
            if cls.line.recv(16) != b"ready":
                log.seek(0)
                raise RuntimeError(f"no process for students' code could be started: {log.read()[-400:].decode()}")

    @classmethod
    def fork(cls, folder: str, pipes: list[int]) -> None:
        """Starts a warden in `folder` that holds its ends of the pipes."""
        with cls.lock:
            if cls.process is not None and cls.process.poll() is not None:
                cls.forget()
            if cls.process is None:
                cls.start()
            socket.send_fds(cls.line, [folder.encode()], pipes)
            cls.line.recv(16)  # one request at a time: a stream would run two together

    @classmethod
    def stop(cls) -> None:
        """Ends the nursery; the next worker starts another."""
        with cls.lock:
            if cls.process is not None:
                cls.forget()

    @classmethod
    def forget(cls) -> None:
        """Hangs up, at which the nursery ends, and waits for that."""
        assert cls.process is not None
        cls.line.close()
        cls.process.wait()
        cls.process = None


atexit.register(Nursery.stop)


@dataclass
class Worker:
    """One student's file in a process of its own; use as a context manager."""

    setup: dict[str, Any]
    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)

    def __enter__(self) -> "Worker":
        self.text, self.buffer, self.number = Text(), bytearray(), 0
        self.protections: list[str] = []
        self.folder = tempfile.mkdtemp(prefix="tinyattn-")
        os.chmod(self.folder, 0o777 if self.policy.scratch else 0o755)
        self.warden = 0
        self.ended: int | None = None
        theirs, ours = [], []
        for index in range(5):
            read, write = os.pipe()
            theirs.append(read if index in (0, 3) else write)
            ours.append(write if index in (0, 3) else read)
        self.requests, self.replies, self.printed, self.control, self.status = self.pipes = ours
        try:
            Nursery.fork(self.folder, theirs)
        finally:
            for pipe in theirs:
                os.close(pipe)
        for pipe in (self.requests, self.replies, self.printed):
            os.set_blocking(pipe, False)
        self.warden = self.word(self.limits.start) or 0
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def word(self, seconds: float) -> int | None:
        """The warden's next word on the status pipe: its process id, then the wait status of its child."""
        poll = select.poll()
        poll.register(self.status, select.POLLIN)
        if not poll.poll(seconds * 1000):
            return None
        data = os.read(self.status, 8)
        return struct.unpack("<q", data)[0] if len(data) == 8 else None

    def close(self) -> None:
        """Ends the worker and everything that it started."""
        if not self.pipes:
            return
        os.close(self.control)
        if self.ended is None:
            self.ended = self.word(5)
        if self.ended is None and self.warden:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.warden, signal.SIGKILL)
        for pipe in self.pipes:
            if pipe != self.control:
                os.close(pipe)
        self.pipes = []
        shutil.rmtree(self.folder, ignore_errors=True)

    def load(self) -> dict[str, Any] | Ended:
        """Sends the student's file; the worker's word on how loading went. The protections precede any student code."""
        setup = self.setup | {
            "policy": {
                "memory": self.limits.memory,
                "seconds": self.limits.processor,
                "scratch_mib": self.limits.scratch_mib,
                **vars(self.policy),
            }
        }
        started = self.exchange(wire.pack(setup), self.limits.start, wire.HEADER_LIMIT, more=True)
        if isinstance(started, Ended):
            return Ended("crashed", f"the worker did not start: {started.line}; {self.text.take().decode()[-300:]}")
        self.protections = started[0]["protections"]
        reply = self.exchange(b"", self.limits.load, wire.HEADER_LIMIT)
        return reply if isinstance(reply, Ended) else reply[0]

    def call(
        self,
        function: str,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        trace: Sequence[str] = (),
        reply_limit: int = 1 << 24,
        seconds: float | None = None,
    ) -> tuple[dict[str, Any], list[np.ndarray]] | Ended:
        """One call of a student's function: the worker's header, "changed" for its inputs, and arrays; or why not."""
        arrays: list[np.ndarray] = []
        self.number += 1
        header = {
            "number": self.number,
            "function": function,
            "args": wire.encode(list(args), arrays),
            "kwargs": {name: wire.encode(value, arrays) for name, value in kwargs.items()},
            "trace": list(trace),
        }
        frame = wire.pack(header, arrays)
        reply = self.exchange(frame, self.limits.call if seconds is None else seconds, reply_limit)
        if isinstance(reply, Ended):
            return reply
        if reply[0].get("number") != self.number:
            return Ended("bad reply", "the worker's answer does not belong to this call")
        before = [hashlib.blake2b(each.tobytes()).hexdigest() for each in arrays]
        reply[0]["changed"] = reply[0].get("inputs") != before
        return reply

    def exchange(
        self, frame: bytes, seconds: float, limit: int, more: bool = False
    ) -> tuple[dict[str, Any], list[np.ndarray]] | Ended:
        """Sends one frame and reads one; anything beyond it, unless there may be `more`, is a bad reply."""
        deadline = time.monotonic() + seconds
        unsent = memoryview(frame)
        requests, replies, printed = self.requests, self.replies, self.printed
        poll = select.poll()
        poll.register(replies, select.POLLIN)
        poll.register(printed, select.POLLIN)
        if frame:
            poll.register(requests, select.POLLOUT)

        def pump() -> None:
            """Moves what can be moved now, both ways."""
            nonlocal unsent
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            for descriptor, event in poll.poll(min(left, 1.0) * 1000):
                if descriptor == requests:
                    with contextlib.suppress(BrokenPipeError):
                        unsent = unsent[os.write(requests, unsent[: 1 << 16]) :]
                    if not unsent or event & ~select.POLLOUT:
                        poll.unregister(requests)
                    continue
                data = os.read(descriptor, 1 << 18)
                if descriptor == printed:
                    self.text.add(data)
                    if not data:
                        poll.unregister(printed)
                elif not data:
                    raise EOFError
                else:
                    self.buffer += data

        def read(size: int) -> bytes:
            while len(self.buffer) < size:
                pump()
            data = bytes(self.buffer[:size])
            del self.buffer[:size]
            return data

        try:
            reply = wire.unpack(read, limit)
        except TimeoutError:
            self.close()
            return Ended("timeout", f"no answer within {seconds:g} seconds")
        except EOFError:
            return self.end()
        except wire.BadFrame as error:
            self.close()
            return Ended("bad reply", f"the worker sent {error}")
        self.drain(printed)
        if self.buffer and not more:
            self.close()
            return Ended("bad reply", "the worker sent more than one answer")
        return reply

    def drain(self, printed: int) -> None:
        """Takes printed text that is already here; at most a few buffers, so that an endless printer cannot hold us."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(8):
                if not (data := os.read(printed, 1 << 16)):
                    break
                self.text.add(data)

    def end(self) -> Ended:
        """How a worker ended that closed its side."""
        self.ended = self.word(2)
        self.close()
        if self.ended is None:
            return Ended("crashed", "the code closed its connection to the grader")
        if os.WIFEXITED(self.ended):
            return Ended("crashed", f"the code ended the program (exit status {os.WEXITSTATUS(self.ended)})")
        number = os.WTERMSIG(self.ended)
        if number == signal.SIGXCPU:
            return Ended("timeout", "the processor time for one worker is used up")
        if number == signal.SIGKILL:
            return Ended("crashed", "the code was killed, most likely because it used too much memory")
        return Ended("crashed", f"the code crashed the interpreter (signal {number}, {signal.Signals(number).name})")

    def peak_memory(self) -> int | None:
        """The most memory the student's process has ever held, in bytes, as the kernel counted it; None if unknown."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            child = Path(f"/proc/{self.warden}/task/{self.warden}/children").read_text().split()[0]
            for line in Path(f"/proc/{child}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        return None
