"""Runs one kernel launch in a process of its own: arrays go there in shared memory, faults and counts come back."""

import mmap
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tinyattn.emulator.errors import KernelError
from tinyattn.emulator.program import Program, run

PAGE = 4096
LINE = 0x80000000  # as is_a_line in runtime.h: from here on a reported address is a line
BASE = (
    0x2000000000  # where the arrays lie in every launch: a fixed place, so that a fault's address is the same each time
)


@dataclass(frozen=True)
class Traffic:
    """What one line of a kernel moved to or from one array.

    `requests` counts warps' instructions, `bytes` what their threads asked for, `sectors` the 32-byte pieces of global
    memory that had to move for it, `conflicts` the extra passes of shared memory because lanes wanted different words
    of a bank.
    """

    line: int | None
    array: str
    space: str
    write: bool
    requests: int
    bytes: int
    sectors: int
    conflicts: int


@dataclass(frozen=True)
class Counts:
    """What a checked launch moved, line by line. No cache is counted: it ranks access patterns, it predicts no time."""

    lines: tuple[Traffic, ...]
    complete: bool = True  # False: threads that run together made too many accesses for all of them to be counted

    def _sum(self, field: str, space: str, write: bool | None, array: str | None) -> int:
        chosen = (t for t in self.lines if t.space == space and write in (None, t.write) and array in (None, t.array))
        return sum(getattr(t, field) for t in chosen)

    def moved(self, write: bool | None = None, array: str | None = None) -> int:
        """Bytes moved through global memory, in whole sectors; of reads or writes alone, or of one array alone."""
        return 32 * self._sum("sectors", "global", write, array)

    def asked(self, write: bool | None = None, array: str | None = None) -> int:
        """Bytes that the threads asked global memory for."""
        return self._sum("bytes", "global", write, array)

    @property
    def conflicts(self) -> int:
        """Extra passes over shared memory through bank conflicts."""
        return self._sum("conflicts", "shared", None, None)


def _place(arrays: Sequence[np.ndarray]) -> tuple[list[tuple[int, int, int, list[int]]], list[int], int]:
    """Regions (offset, bytes, granule, members), the arrays' offsets, and the bytes in all.

    Arrays that overlap share a region, as they do on the GPU. Empty pages lie between regions. An address keeps its
    remainder modulo 16, so that a misaligned view is as misaligned there.
    """
    spans = [(array.__array_interface__["data"][0], array.nbytes, index) for index, array in enumerate(arrays)]
    regions: list[tuple[int, int, int, list[int]]] = []
    offsets, end, stop = [0] * len(arrays), PAGE, -1
    for start, size, index in sorted(spans):
        if start < stop:
            offset, _, granule, members = regions.pop()
        else:
            begin, offset, granule, members = start, end + start % 16, 4, []
        stop = max(stop if members else 0, start + size)
        offsets[index] = offset + start - begin
        regions.append((offset, stop - begin, min(granule, arrays[index].itemsize), [*members, index]))
        end = -(-(offset + stop - begin) // PAGE) * PAGE + PAGE
    return regions, offsets, end


def launch(
    program: Program,
    kernel: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: Sequence[np.ndarray | np.generic | None],
    *,
    names: Sequence[str] = (),
    shared_mem: int = 0,
    order: str = "forward",
    seed: int = 0,
    time_limit: float = 60.0,
) -> Counts | None:
    """Runs a kernel; arrays (contiguous) are changed in place, as on a GPU. A checked program returns its counts.

    None is a null pointer.

    Args:
        names: what to call each argument in messages.
        order: in which order the threads of a block take turns: "forward", "reverse" or "random" (with `seed`).
        time_limit: seconds of processor time after which the launch counts as an endless loop.

    Raises:
        KernelError: the kernel did something wrong; the arrays are as they were.
    """
    names = names or [f"argument{index}" for index in range(len(arguments))]
    arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
    array_names = [name for name, argument in zip(names, arguments, strict=True) if isinstance(argument, np.ndarray)]
    regions, offsets, total = _place(arrays)
    spec = [f"kernel {kernel}", "grid {} {} {}".format(*grid), "block {} {} {}".format(*block)]
    spec += [
        f"order {order} {seed}",
        f"limit {time_limit}",
        f"checked {int(program.checked)}",
        f"memory {BASE} {total}",
    ]
    spec += [f"array {offset} {size} {granule} {array_names[members[0]]}" for offset, size, granule, members in regions]
    spec += [f"dynamic {shared_mem}"] + [f"shared {offset} {size} {name}" for offset, size, name in program.shared]
    places = iter(offsets)
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            spec.append(f"pointer {BASE + next(places)}")
        elif argument is None:
            spec.append("pointer 0")
        else:
            spec.append(f"value {int.from_bytes(argument.tobytes(), 'little'):x}")

    descriptor = os.memfd_create("tinyattn")
    try:
        os.ftruncate(descriptor, total)
        with mmap.mmap(descriptor, total) as memory:
            for array, offset in zip(arrays, offsets, strict=True):
                _view(memory, offset, array)[...] = array
            result = _run_child(program, descriptor, spec, time_limit)
            report = _read_report(program, kernel, result)
            for array, offset in zip(arrays, offsets, strict=True):
                if array.flags.writeable:
                    array[...] = _view(memory, offset, array)
    finally:
        os.close(descriptor)
    return report


def _view(memory: mmap.mmap, offset: int, array: np.ndarray) -> np.ndarray:
    return np.ndarray(array.shape, array.dtype, memory, offset)


def _run_child(program: Program, descriptor: int, spec: list[str], time_limit: float):
    try:
        result = subprocess.run(
            [str(program.path), str(descriptor)],
            input="\n".join(spec) + "\n",
            pass_fds=[descriptor],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20 * time_limit + 60,  # the child stops itself; this is for a child that cannot
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(
            [], 0, "", "fault endless loop\ntext the launch did not end within its time limit\n"
        )
    sys.stdout.write(result.stdout)  # what the kernel printed
    return result


def _lines_of(program: Program, addresses: Sequence[int]) -> dict[int, int | None]:
    """The line of the .cu file behind each return address, or None where it is in no line of that file."""
    found: dict[int, int | None] = {address: address - LINE for address in addresses if address >= LINE}
    unique = sorted(set(addresses) - set(found))
    if not unique:
        return found
    # A return address is that of the next instruction: one byte back is the call.
    listing = run(
        ["addr2line", "-a", "-i", "-e", str(program.path), *(f"{address - 1:x}" for address in unique)]
    ).stdout
    found |= dict.fromkeys(unique)
    current = 0
    for line in listing.splitlines():
        if line.startswith("0x"):
            current = int(line, 16) + 1
        elif found[current] is None and (match := re.match(r"(?:.*/)?(.*):(\d+)", line)) and match[1] == program.file:
            found[current] = int(match[2]) or None
    return found


def _read_report(program: Program, kernel: str, result) -> Counts | None:
    lines = [line.partition(" ")[::2] for line in result.stderr.splitlines()]
    fields = dict(lines)
    if "fault" in fields:
        raise _fault(program, kernel, fields, [int(value, 16) for word, value in lines if word == "pc"])
    if "done" not in fields:
        code = result.returncode
        ended = signal.Signals(-code).name if code < 0 else f"status {code}"
        raise KernelError("crash", kernel=kernel, file=program.file, detail=f"the launch's process ended with {ended}")
    if not program.checked:
        return None
    rows = [value.split(None, 7) for word, value in lines if word == "traffic"]
    return _counts(program, rows, complete="uncounted" not in fields)


def _fault(program: Program, kernel: str, fields: dict[str, str], stack: list[int]) -> KernelError:
    """The error that the child's report describes, with lines for addresses."""
    detail, file = fields.get("text", ""), program.file
    mentioned = [int(address, 16) for address in re.findall(r"@([0-9a-f]+)", detail)]
    line_of = _lines_of(program, mentioned + stack)
    line = next((line_of[address] for address in stack if line_of[address]), None)
    if "site" in fields:
        number, _, file = fields["site"].partition(" ")
        line = int(number)
    detail = re.sub(r"@([0-9a-f]+)", lambda match: f"line {line_of[int(match[1], 16)]}", detail)
    where = {word: tuple(map(int, fields[word].split())) for word in ("block", "thread") if word in fields}
    return KernelError(fields["fault"], kernel=kernel, file=file, line=line, detail=detail, **where)


def _counts(program: Program, rows: list[list[str]], complete: bool) -> Counts:
    """The traffic of all addresses that belong to one line and array, added up."""
    line_of = _lines_of(program, [int(row[0], 16) for row in rows])
    totals: dict[tuple, list[int]] = {}
    for pc, write, shared, *numbers, array in rows:
        place = (line_of[int(pc, 16)], array, "shared" if shared == "1" else "global", write == "1")
        totals[place] = [a + int(b) for a, b in zip(totals.get(place, [0] * 4), numbers, strict=True)]
    ordered = sorted(totals, key=lambda place: place[0] or 0)
    return Counts(tuple(Traffic(*place, *totals[place]) for place in ordered), complete)
