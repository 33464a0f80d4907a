"""Dropout of attention weights, from a seed that says which weights are dropped."""

import math

import numpy as np

from tinyattn.backend import namespace, shown
from tinyattn.tensor import op


@op
def dropout(weights, *, p, seed):  # (..., L, S) -> (..., L, S)
    """Each weight is 0 with probability p, else divided by 1 - p, so that the mean stays (Srivastava et al., 2014)."""
    p = dropout_probability(p)
    if p == 0:
        return weights, (lambda grad: grad,)
    keep = namespace(weights).asarray(keep_mask(weights.shape, p, seed))
    factor = keep * weights.dtype.type(1 / (1 - p) if p < 1 else 0)
    return weights * factor, (lambda grad: grad * factor,)


def dropout_probability(p):
    """p as a float within [0, 1], or ValueError."""
    if isinstance(p, bool) or not isinstance(p, int | float | np.number) or not 0 <= p <= 1:  # NaN fails too
        raise ValueError(f"dropout_p must be a probability from 0 to 1, got {shown(p)}")
    return float(p)


def keep_mask(shape, p, seed):
    """Boolean (..., L, S): True where a weight is kept."""
    *batch, queries, keys = (1,) * (2 - len(shape)) + tuple(shape)
    tables = [keep_block(slice(queries), slice(keys), p, seed, table) for table in range(math.prod(batch))]
    return np.array(tables, bool).reshape(shape)


TILE = 64  # queries drawn together


def keep_block(rows, keys, p, seed, table):
    """Boolean (rows, keys), any block of a (L, S) table by itself.

    Philox numbers its draws, so the nth can be had without the others (Salmon et al., 2011). They are numbered by
    seed, table (the position in the leading axes), tile of queries, key and query.
    """
    row, key = rows.start or 0, keys.start or 0
    width, first, last = keys.stop - key, row // TILE, math.ceil(rows.stop / TILE)
    limit = np.uint32(min(round(p * 2**32), 2**32 - 1))
    keep = np.empty((width, last - first, TILE), bool)
    for tile in range(first, last):
        counter = [key * TILE // 8, tile, 0, 0]  # each count gives eight draws of 32 bits
        stream = np.random.Philox(counter=counter, key=[seed % 2**64, table])
        drawn = stream.random_raw(width * TILE // 2).view(np.uint32).reshape(width, TILE)
        np.greater_equal(drawn, limit, out=keep[:, tile - first])
    return keep.reshape(width, (last - first) * TILE).T[row - first * TILE : rows.stop - first * TILE]


def seed_of(rng):
    """An integer seed from rng: None (fresh), an integer, or a numpy Generator, which moves on by one draw."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"rng must be a seed of at least 0, got {rng}")
        return int(rng)
    if rng is None:
        rng = np.random.default_rng()
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be None, an integer seed or a numpy.random.Generator, got {type(rng).__name__}")
    return int(rng.integers(2**63))
