"""Compiles a student's kernel with the emulator's checks, launches it, and says what it gave, or moved."""

import re

import numpy as np

refused = {}  # the compiler's word on a kernel, which need not be asked for again
ORDERS = (("forward", 0), ("reverse", 0), ("random", 1))


def fused_softmax(student, scores, factor, keep=None, orders=False, most_read=None, most_written=None):
    """("no fault", weights), or a fault and no weights; with orders=True the threads take turns in several ways.

    With most_read, in bytes a score, also whether no more is read, and whether no more than most_written is written.
    """
    if most_read is not None:
        return bytes_moved(student, scores, factor, most_read, most_written)
    if orders:
        return in_every_order(student, scores, factor, keep)
    fault, weights, _ = run(student, scores, factor, keep)
    return fault, weights


def in_every_order(student, scores, factor, keep):
    first = None
    for order, seed in ORDERS:
        fault, weights, _ = run(student, scores, factor, keep, order=order, seed=seed)
        if fault != "no fault":
            return fault, weights
        if first is not None and weights.tobytes() != first.tobytes():
            say(student, f"{np.sum(weights != first)} of {weights.size} weights change with the order of the threads")
            return "the order of the threads changes the result", first
        first = weights
    return "no fault", first


def bytes_moved(student, scores, factor, most_read, most_written):
    fault, weights, counts = run(student, scores, factor, None)
    if counts is None:
        return fault, weights, False, False
    read, written = (counts.moved(write) / scores.size for write in (False, True))
    say(student, f"{read:.2f} bytes read and {written:.2f} written for each score")
    return fault, weights, read <= most_read, written <= most_written


def run(student, scores, factor, keep, **options):
    """(fault, weights, counts) of one checked launch; with a fault no weights and no counts."""
    from tinyattn import emulator, kernels

    rows, columns = scores.shape
    grid, block, shared = student.launch(rows, columns)
    weights = np.full_like(scores, np.nan)
    module = kernels.load(student.KERNEL, "emulated", True, time_limit=0.5, **options)
    names = ()
    try:
        if student.KERNEL in refused:
            raise refused[student.KERNEL]
        kernel = module.get_function("fused_softmax")
        names = [parameter.name for parameter in kernel.signature.parameters]
        counts = kernel(grid, block, (scores, keep, weights, np.float32(factor), rows, columns), shared)
    except emulator.KernelError as error:
        if error.kind == "compile error":
            refused[student.KERNEL] = error
        say(student, str(error))
        return kind(error, names), np.zeros(0), None
    except (TypeError, ValueError) as error:
        say(student, str(error))
        asked = "parameters" if isinstance(error, TypeError) else "launch" if names else "name"
        return f"not launched, for its {asked}", np.zeros(0), None
    return "no fault", weights, counts


RACE = r"(reads|writes) .* thread \(.*\) of (the same|another) block (read|wrote) at line (\d+)"


def kind(error, names):
    """A fault's kind; of a race also who met whom, of a wrong address where it lies."""
    found = re.match(RACE, error.detail)
    if error.kind == "race" and found and error.line:
        did, place, had, line = found.groups()
        if did == "writes" and had == "wrote":
            what = "two threads write one place"
        else:
            write, read = (error.line, int(line)) if did == "writes" else (int(line), error.line)
            what = (
                "a place is read while it is first written"
                if write < read
                else "a place is overwritten while it is read"
            )
        return f"race: {what}" + (", in two blocks" if place == "another" else "")
    found = re.match(r"(?:reads|writes) .* of `(\w+)`", error.detail)
    if error.kind == "out of bounds" and found:
        arrays = dict(zip(names, ("the scores", "the mask", "the weights"), strict=False))
        return f"out of bounds of {arrays.get(found[1], 'shared memory')}"
    return error.kind


def say(student, text):
    """Shown with public tests; the grader, which plays with the reference, says nothing."""
    if student.__name__ == "submission":
        print(text)
