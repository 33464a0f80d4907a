"""Assignment a6: the fused softmax as a CUDA kernel, graded with no GPU."""

import numpy as np

from tinyattn.grading import kernel_file
from tinyattn.grading.assignment import Assignment, Call, Question, Test, sizes
from tinyattn.grading.kit import kernel_policy, obstacle
from tinyattn.grading.process import Limits

FACTOR = 0.375  # exact in float32


def table(rng, rows, columns, spread=2.0):
    return (spread * rng.normal(size=(rows, columns))).astype(np.float32)


def some_keys(rng, rows, columns):
    """A mask in which every row has one key at least."""
    keep = rng.random((rows, columns)) < 0.5
    keep[np.arange(rows), rng.integers(0, columns, rows)] = True
    return keep


def small(rng):
    return Call(table(rng, 2, 4), FACTOR)


def small_mask(rng):
    return Call(table(rng, 2, 4), FACTOR, keep=np.array([[True, False, True, True], [False, True, False, False]]))


def columns(count, rows=None):
    def probe(rng):
        return Call(table(rng, rows or int(rng.integers(2, 6)), count), FACTOR)

    return probe


def rows(count):
    def probe(rng):
        (width,) = sizes(rng, 1, 5, 12)
        return Call(table(rng, count, width), FACTOR)

    return probe


def negative_factor(rng):
    return Call(table(rng, 3, 70, 60), -0.75)


def large_factor(rng):
    return Call(table(rng, 3, 70, 0.2), 6.5)


def far(rng):
    """Rows near 1000, near -1000, and with one score far above the others."""
    scores = table(rng, 4, 90)
    scores[0] += 1000
    scores[1] -= 1000
    scores[2, 71] += 700
    return Call(scores, 1.0)


def far_below(rng):
    """Rows near -20000, in steps that float32 holds exactly there."""
    return Call((rng.integers(-1500, 0, (3, 50)) / 256 - 20000).astype(np.float32), 1.0)


def mask(rng):
    width = int(rng.integers(70, 90))
    return Call(table(rng, 5, width), FACTOR, some_keys(rng, 5, width))


def mask_wide(rng):
    return Call(table(rng, 3, 300), FACTOR, keep=some_keys(rng, 3, 300))


def mask_far(rng):
    scores = table(rng, 3, 70)
    keep = some_keys(rng, 3, 70)
    return Call(np.where(keep, scores - 500, scores + 500).astype(np.float32), 1.0, keep)


def mask_late(rng):
    """Only the last keys may be seen, so most threads see none."""
    keep = np.arange(300) >= np.array([[290], [299], [150]])
    return Call(table(rng, 3, 300), FACTOR, keep)


def empty_rows(rng):
    keep = some_keys(rng, 6, 70)
    keep[1] = keep[5] = False
    return Call(table(rng, 6, 70), FACTOR, keep)


def empty_row_alone(rng):
    return Call(table(rng, 1, 40), FACTOR, np.zeros((1, 40), dtype=bool))


def orders(rng):
    return Call(table(rng, 3, 300), FACTOR, some_keys(rng, 3, 300), orders=True)


def moved(columns, read, written):
    """Whether so many bytes for each score are enough."""

    def probe(rng):
        return Call(table(rng, 16, columns), FACTOR, most_read=read, most_written=written)

    return probe


ASSIGNMENT = Assignment(
    title="The fused softmax as a CUDA kernel",
    file="a6_fused_softmax.py",
    limits=Limits(call=20, processor=60, memory=2 << 30, scratch_mib=64),
    policy=kernel_policy,
    prepare=kernel_file.read,
    obstacle=obstacle,
    proof_keys=1,
    questions=(
        Question(
            "fused_softmax",
            (
                Test("small", 8, (small,), public=True, about="two rows of four, no mask"),
                Test("small_mask", 6, (small_mask,), public=True, about="the same with a mask"),
                Test(
                    "columns",
                    12,
                    (columns(1), columns(31), columns(129), columns(300)),
                    about="rows of 1 to 300",
                ),
                Test("wide", 6, (columns(1500, 2), columns(4096, 1)), about="rows of up to 4,096"),
                Test("rows", 8, (rows(7), rows(70)), about="other numbers of rows"),
                Test("factor", 6, (negative_factor, large_factor), about="other factors, a negative one too"),
                Test("far", 8, (far, far_below), about="scores far from zero"),
                Test("mask", 8, (mask, mask_wide, mask_far), about="masks"),
                Test("mask_late", 5, (mask_late,), about="a mask that lets only the last keys through"),
                Test("empty_rows", 8, (empty_rows, empty_row_alone), about="rows in which no key may be seen"),
                Test("orders", 7, (orders,), about="the threads take turns in other orders"),
                Test("bytes", 4, (moved(64, 12, 8),), public=True, about="bytes moved: neighbours read neighbours"),
                Test("bytes_once_written", 4, (moved(256, 12, 4),), about="every weight is written once"),
                Test("bytes_once_read", 10, (moved(256, 4, 4), moved(1024, 4, 4)), about="every score is read once"),
            ),
        ),
    ),
)
