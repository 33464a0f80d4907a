"""The blocks of scores that the tiled way computes, as places only: rows are queries, columns keys, both are slices.

A causal mask, and a window, leave of the table a band: query i sees the keys i + low to i + high, both included. What
lies wholly outside is in no block, and of a block that an edge of the band passes through, `hidden` says what to leave.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

CUT = 128  # rows or columns of a block that an edge passes through: of a square there, half is computed for nothing


class Block(NamedTuple):
    """Some rows and columns of the table."""

    rows: slice
    keys: slice
    here: slice  # these rows, counted from the first of those that were asked for
    there: slice  # and these columns
    hidden: tuple  # ((slice, slice), array) for each part with something outside the band: ones where it is inside
    met: int  # how many of its rows, the first ones, blocks before it have too

    def of(self, memory):
        """As many numbers of memory (n,) as the block has scores, in its shape."""
        rows, keys = _shape(self.rows, self.keys)
        return memory[: rows * keys].reshape(rows, keys)


def band_of(is_causal, window, offset, L, S):
    """(low, high); for no limit, what no key is beyond."""
    left, right = window
    ends = [x for x in (right, 0 if is_causal else None) if x is not None]
    low = -L - S if left is None else max(offset - left, -L - S)
    return low, min(offset + min(ends), L + S) if ends else L + S


def seen(rows, keys, band):
    """The keys that any of the rows sees."""
    return _reached(rows, keys, *band)


def seeing(keys, rows, band):
    """The rows that see any of the keys."""
    return _reached(keys, rows, -band[1], -band[0])


def blocks(rows, keys, band, size, dtype):
    """The blocks, of at most size (rows, keys), that keys and at most size[0] rows make up.

    Where an edge of the band passes through a block, its shorter side is cut. The list is kept for later calls.
    """
    return _blocks(rows.start, rows.stop, keys.start, keys.stop, band, size, dtype)


@lru_cache(maxsize=64)
def _blocks(row, last_row, key, last_key, band, size, dtype):
    rows, keys = slice(row, last_row), slice(key, last_key)
    found, reached = [], rows.start
    for columns in split(seen(rows, keys, band), size[1]):
        if size[0] <= size[1]:
            parts = split(rows, CUT) if _edges(rows, columns, *band) else [rows]
            places = [(part, seen(part, columns, band)) for part in parts]
        else:
            parts = split(columns, CUT) if _edges(columns, rows, -band[1], -band[0]) else [columns]
            places = [(seeing(part, rows, band), part) for part in parts]
        for r, k in places:
            if r.start < r.stop and k.start < k.stop:
                hidden = _hidden(r, k, band, dtype)
                found.append(Block(r, k, within(r, rows), within(k, keys), hidden, before(reached, r)))
                reached = max(reached, r.stop)
    return found


def split(whole, length):
    """The slices of this length that make up a slice."""
    return [slice(i, min(i + length, whole.stop)) for i in range(whole.start, whole.stop, length)]


def before(place, part):
    """How many entries of a slice lie before a place."""
    return min(max(place - part.start, 0), part.stop - part.start)


def within(inner, outer):
    """A slice counted from where another one starts."""
    return slice(inner.start - outer.start, inner.stop - outer.start)


def _reached(some, others, low, high):
    start, stop = min(max(others.start, some.start + low), others.stop), min(others.stop, some.stop + high)
    return slice(start, max(start, stop))


def _edges(some, others, low, high):
    """The parts of others that some reach and some do not."""
    before = slice(others.start, min(others.stop, some.stop - 1 + low))
    after = slice(max(others.start, some.start + high + 1), others.stop)
    if others.start < before.stop >= after.start < others.stop:
        return [others]
    return [part for part in (before, after) if part.start < part.stop]


def _hidden(rows, keys, band, dtype):
    if keys.stop - keys.start > rows.stop - rows.start:
        parts = [(rows, part) for part in _edges(rows, keys, *band)]
    else:
        parts = [(part, keys) for part in _edges(keys, rows, -band[1], -band[0])]
    return tuple(
        ((within(r, rows), within(k, keys)), _inside(*_shape(r, k), k.start - r.start, band, dtype)) for r, k in parts
    )


def _shape(rows, keys):
    return rows.stop - rows.start, keys.stop - keys.start


@lru_cache(maxsize=16)
def _inside(rows, keys, offset, band, dtype):
    """(rows, keys): one where the key that far from the row is inside the band, zero elsewhere."""
    distance = offset + np.arange(keys) - np.arange(rows)[:, None]
    return np.asarray((band[0] <= distance) & (distance <= band[1]), dtype)
