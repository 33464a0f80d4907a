"""The same attention without the table of scores: block by block, so that memory grows with n and not with n squared.

A row of softmax needs its largest score and its sum. Both can be kept up to date while the keys go by: when a larger
score turns up, what was summed so far shrinks by exp(old peak - new peak) (Milakov and Gimelshein, 2018). Backward does
not store the weights either: it makes each block again from the peaks and sums (FlashAttention, Dao et al., 2022).
"""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from tinyattn.attention.dropout import keep_block
from tinyattn.attention.workers import share
from tinyattn.ops import selective_product
from tinyattn.tensor import op

ROWS, KEYS = 256, 1024  # the largest block of scores: 1 MiB in float32, a core's own cache
EDGE = 128  # keys at a time where a diagonal passes through, since half of such a block is wasted
TAME = 30.0  # scores no larger than this need no peak: exp(30) leaves float32 room for any sum of them
PANELS = 8  # parts of the work in backward, where there are keys and heads enough for as many


@op
def tiled_attention(
    query, key, value, bias=None, *,
    attn_mask=None, is_causal=False, window=(None, None), offset=0, factor, dropout_p=0.0, seed=0, workers=None,
):  # fmt: skip
    """softmax(query key^T * factor + bias, masked) value: (..., L, E), (..., S, E), (..., S, Ev) -> (..., L, Ev).

    bias       None, or floating (..., L, S), added to the scores; only its gradient needs a table
    attn_mask  None, or like bias but without a gradient, or boolean (True = may attend)
    is_causal  query i sees keys j <= i + offset
    window     (left, right): query i sees keys i + offset - left to i + offset + right; None is no limit
    seed       which weights are dropped, as in `dropout`
    workers    threads; every core by default. The result is the same to the bit for any number.

    Leading axes broadcast without copies: grouped heads are (..., H, G, L, E) against (..., H, 1, S, E). float16 is
    computed in float32. The caller has checked shapes and kinds.
    """
    call = _Call(query, key, value, bias, attn_mask, is_causal, window, offset, factor, dropout_p, seed, workers)
    call.forward()

    def vjp(grad):
        return *call.backward(grad), None if bias is None else call.bias_gradient(grad)

    return call.output.astype(np.result_type(query, key, value), copy=False), vjp


class _Call:
    """One call: its arrays table by table (a table is the L x S scores of one head) and the blocks to be computed."""

    def __init__(self, query, key, value, bias, attn_mask, is_causal, window, offset, factor, dropout_p, seed, workers):
        given = [x for x in (bias, attn_mask) if x is not None]
        self.dtype = np.result_type(query, key, value, np.float32)
        self.batch = np.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value, *given)))
        self.query, self.key, self.value = (self.lead(_for_blas(x, self.dtype)) for x in (query, key, value))
        self.biases = [self.lead(x) for x in given if x.dtype != bool]
        self.masks = [self.lead(x) for x in given if x.dtype == bool]
        self.L, self.S = query.shape[-2], key.shape[-2]
        self.factor, self.dropout_p, self.seed, self.workers = factor, dropout_p, seed, workers
        weights_lead = np.broadcast_shapes(self.query.shape[:-2], self.key.shape[:-2])
        self.number = np.arange(math.prod(weights_lead)).reshape(*weights_lead, 1, 1)  # of a table, for dropout

        left, right = window
        ends = [x for x in (right, 0 if is_causal else None) if x is not None]
        self.low = -self.L - self.S if left is None else offset - left  # query i sees keys i + low ...
        self.high = offset + min(ends) if ends else self.L + self.S  # ... to i + high
        self.row_blocks = [slice(i, min(i + ROWS, self.L)) for i in range(0, self.L, ROWS)]

        # products are fastest with the keys outermost in memory, but a mask has to be read as it lies
        self.keys_outermost = not any(min(x.shape[-2:]) > 1 for x in given)
        self.width = KEYS
        self.tame = not self.biases and _largest_score(self.query, self.key, factor) <= TAME and _moderate(self.value)
        self.product = np.matmul if self.tame else selective_product  # masked keys may be infinite or NaN

    def forward(self):
        """Sets output, and for backward each row's peak, its largest score, and total, the sum of exp(score - peak)."""
        self.output = np.zeros((*self.batch, self.L, self.value.shape[-1]), self.dtype)
        self.peak = np.full((*self.batch, self.L), 0 if self.tame else -np.inf, self.dtype)
        self.total = np.zeros((*self.batch, self.L), self.dtype)

        def work(tasks):
            room = self.room()
            ones = np.ones(KEYS, self.dtype)
            for index, rows in tasks:
                query = np.multiply(_table(self.query, index)[rows], self.factor, dtype=self.dtype)
                key, value = _table(self.key, index), _table(self.value, index)
                output, peak, total = self.output[index], self.peak[index], self.total[index]
                for r, keys, keep in tasks.parts(self.blocks(index, self.spans(rows, slice(0, self.S)))):
                    weights = self.scores(room, query[_within(r, rows)], key[keys], index, r, keys, keep)
                    if not self.tame:
                        shrink = _raise(peak[r], weights)
                        output[r] *= shrink[:, None]
                        total[r] *= shrink
                    self.exp(weights, keep)
                    total[r] += weights @ ones[: weights.shape[1]]  # BLAS sums faster than np.sum
                    if self.dropout_p:
                        weights *= self.dropout_factor(index, r, keys)
                    output[r] += weights @ value[keys]
                # a row that sees no key has a total of 0 and an output of 0
                np.copyto(total[rows], 1, where=total[rows] == 0)
                np.copyto(peak[rows], 0, where=np.isneginf(peak[rows]))
                output[rows] /= total[rows, None]

        # the longest rows of a causal table first, so that what the last worker still has to do is short
        share(work, [(i, rows) for i in np.ndindex(self.batch) for rows in reversed(self.row_blocks)], self.workers)

    def backward(self, grad):
        """Gradients of query, key and value, given that of the output.

        With weights P and D = rowsum(grad * output): d_value = P^T grad, and the scores' gradient is
        P * (grad value^T - D), whose products with key and query are the other two.
        """
        lead = np.broadcast_shapes(self.key.shape[:-2], self.value.shape[:-2])
        users = self.users(lead)
        panels = _split(self.S, PANELS // max(1, len(users)))
        # the panels of a table add to the same queries: each does so for itself, and their sums are added up in order
        d_query = np.zeros((len(panels), *self.batch, self.L, self.query.shape[-1]), self.dtype)
        d_key = np.zeros((*lead, self.S, self.key.shape[-1]), self.dtype)
        d_value = np.zeros((*lead, self.S, self.value.shape[-1]), self.dtype)

        def work(tasks):
            rooms = self.room(), self.room()
            for owner, panel, d_query_part in tasks:
                d_k, d_v = d_key[owner], d_value[owner]
                for index in users[owner]:
                    d_q = d_query_part[index]
                    for r, keys, weights, d_scores, query, key, upstream in self.again(
                        tasks, rooms, grad, index, self.row_blocks, panel
                    ):
                        d_v[keys] += weights.T @ upstream
                        d_k[keys] += self.product(d_scores.T, query)
                        d_q[r] += self.product(d_scores, key)

        # the first panel of a causal table is the longest
        share(work, [(owner, *part) for owner in users for part in zip(panels, d_query, strict=True)], self.workers)
        total = d_query[0] if len(panels) == 1 else d_query.sum(axis=0)
        return np.multiply(total, self.factor, out=total), d_key, d_value

    def bias_gradient(self, grad):
        """Gradient of the bias: the scores' gradient, summed over the axes along which the bias broadcasts."""
        bias = self.biases[0]
        d_bias = np.zeros(bias.shape, self.dtype)
        stretched = tuple(axis for axis in (0, 1) if bias.shape[axis - 2] == 1)
        users = self.users(bias.shape[:-2])
        # a bias for each row can be shared out by rows; one row for all is added up in order
        row_groups = [[rows] for rows in self.row_blocks] if bias.shape[-2] > 1 else [self.row_blocks]

        def work(tasks):
            rooms = self.room(), self.room()
            for owner, row_group in tasks:
                for index in users[owner]:
                    for r, keys, _, d_scores, *_ in self.again(tasks, rooms, grad, index, row_group, slice(0, self.S)):
                        _part(d_bias, owner, r, keys)[...] += d_scores.sum(axis=stretched, keepdims=True)

        share(work, [(owner, row_group) for owner in users for row_group in row_groups], self.workers)
        return d_bias

    def again(self, tasks, rooms, grad, index, row_blocks, panel):
        """Yields each block's rows and keys, its weights, its scores' gradient, and its queries, keys and gradients.

        Two things spare passes over the block: the weights stay undivided, and grad, which is smaller, is divided by
        total instead; peak and D are subtracted by one more column in the products.
        """
        peak, total, output = self.peak[index], self.total[index], self.output[index]
        keys_1 = _with_column(_table(self.key, index)[panel], 1, self.dtype)
        values_1 = _with_column(_table(self.value, index)[panel], 1, self.dtype)
        for rows in row_blocks:
            spans = list(self.spans(rows, panel))
            if not spans:
                continue
            queries_1 = _with_column(_table(self.query, index)[rows], -peak[rows], self.dtype)
            queries_1[:, :-1] *= self.factor
            grads_1 = _with_column(grad[index][rows], 0, self.dtype)
            grads_1 /= total[rows, None]
            mean = np.einsum("ij,ij->i", grads_1[:, :-1], output[rows])  # of the weights' gradients, under the weights
            if not self.dropout_p:
                grads_1[:, -1] = -mean
            if self.biases:  # they can dwarf the score, and the peak with them: subtract it after they are added
                queries_1[:, -1] = 0
            for r, keys, keep in tasks.parts(self.blocks(index, spans)):
                queries, grads = queries_1[_within(r, rows)], grads_1[_within(r, rows)]
                weights = self.scores(rooms[0], queries, keys_1[_within(keys, panel)], index, r, keys, keep)
                if self.biases:
                    weights -= peak[r, None]
                self.exp(weights, keep)
                d_scores = self.block(rooms[1], r, keys)
                np.matmul(grads, values_1[_within(keys, panel)].T, out=d_scores)
                if self.dropout_p:
                    factor = self.dropout_factor(index, r, keys)
                    d_scores *= factor
                    d_scores -= mean[_within(r, rows), None]
                d_scores *= weights
                if self.dropout_p:
                    weights *= factor
                yield r, keys, weights, d_scores, queries[:, :-1], keys_1[_within(keys, panel), :-1], grads[:, :-1]

    def scores(self, room, queries, keys, index, r, k, keep):
        """One block of scores, in room, with every mask that has to come before exp."""
        scores = np.matmul(queries, keys.T, out=self.block(room, r, k))
        for bias in self.biases:
            scores += _part(bias, index, r, k)
        if keep is not None and not self.tame:
            np.copyto(scores, -np.inf, where=~keep)
        return scores

    def exp(self, scores, keep):
        np.exp(scores, out=scores)
        if keep is not None and self.tame:  # all are finite, and a product is ten times as fast as a choice
            scores *= keep

    def dropout_factor(self, index, r, k):
        number = int(_table(self.number, index)[0, 0])
        kept = keep_block(r, k, self.dropout_p, self.seed, number)
        return kept * self.dtype.type(1 / (1 - self.dropout_p) if self.dropout_p < 1 else 0)

    def blocks(self, index, spans):
        """(rows, keys, keep) of the blocks with something to see; keep is boolean, or None where everything is seen."""
        for r, k, crossed in spans:
            keep = (
                _band(r.stop - r.start, k.stop - k.start, self.low, self.high, k.start - r.start) if crossed else None
            )
            for mask in self.masks:
                part = _part(mask, index, r, k)
                if not part.all():
                    keep = part if keep is None else keep & part
            if keep is None or keep.any():
                yield r, k, keep

    def spans(self, rows, keys):
        """(rows, keys, crossed) that together cover what is_causal and window leave of a block of rows.

        crossed: a diagonal passes through, so that not all of its entries are seen.
        """
        start, stop = max(keys.start, rows.start + self.low), min(keys.stop, rows.stop + self.high)
        if start >= stop:
            return
        # from clear to crossed every row sees every key; rounded to whole edges, since products like even sizes
        clear = min(max(start, -(-(rows.stop - 1 + self.low) // EDGE) * EDGE), stop)
        crossed = min(max(clear, (rows.start + self.high + 1) // EDGE * EDGE), stop)
        ends = [*range(start, clear, EDGE), *range(clear, crossed, self.width), *range(crossed, stop, EDGE), stop]
        for first, last in pairwise(ends):
            r = slice(max(rows.start, first - self.high), min(rows.stop, last - self.low))
            yield r, slice(first, last), r.start + self.high < last - 1 or r.stop - 1 + self.low > first

    def users(self, lead):
        """The tables by the part of an array with these leading axes that they use."""
        users = {owner: [] for owner in np.ndindex(lead)}
        for index in np.ndindex(self.batch):
            users[tuple(0 if n == 1 else i for i, n in zip(index, lead, strict=True))].append(index)
        return users

    def lead(self, array):
        """The array with as many leading axes as the batch."""
        return array.reshape((1,) * (len(self.batch) + 2 - array.ndim) + array.shape)

    def room(self):
        return np.empty(min(ROWS, self.L) * min(max(EDGE, self.width), self.S), self.dtype)

    def block(self, room, r, k):
        """An array (rows, keys) in room."""
        rows, keys = r.stop - r.start, k.stop - k.start
        room = room[: rows * keys]
        return room.reshape(keys, rows).T if self.keys_outermost else room.reshape(rows, keys)


def _table(array, index):
    """The last two axes at index, along axes of length 1 at 0."""
    return array[tuple(0 if n == 1 else i for i, n in zip(index, array.shape, strict=False))]


def _part(array, index, r, k):
    table = _table(array, index)
    return table[r if table.shape[0] > 1 else slice(None), k if table.shape[1] > 1 else slice(None)]


def _within(inner, outer):
    return slice(inner.start - outer.start, inner.stop - outer.start)


def _split(n, parts):
    """About so many slices of equal length that make up 0 to n, none shorter than 256 unless n is."""
    length = max(256, -(-n // (max(1, parts) * EDGE)) * EDGE)
    return [slice(i, min(i + length, n)) for i in range(0, n, length)]


def _with_column(array, column, dtype):
    wide = np.empty((array.shape[0], array.shape[1] + 1), dtype)
    wide[:, :-1], wide[:, -1] = array, column
    return wide


def _raise(peak, scores):
    """Raises peak to the largest scores and subtracts it from them; returns by what earlier sums shrink."""
    higher = np.maximum(peak, scores.max(axis=1))
    base = np.where(np.isneginf(higher), 0, higher)
    shrink = np.exp(peak - base)
    scores -= base[:, None]
    peak[...] = higher
    return shrink


@lru_cache(maxsize=16)
def _band(rows, keys, low, high, offset):
    """Boolean (rows, keys): low <= offset + key - query <= high."""
    distance = offset + np.arange(keys)[:, None] - np.arange(rows)
    return ((low <= distance) & (distance <= high)).T


def _largest_score(query, key, factor):
    """No score is larger than this (Cauchy and Schwarz); NaN or inf if an input is."""
    longest = [np.einsum("...i,...i->...", x, x).max(initial=0) for x in (query, key)]
    return abs(factor) * math.sqrt(float(longest[0]) * float(longest[1]))


def _moderate(value):
    return -1e18 < value.min(initial=0) and value.max(initial=0) < 1e18


def _for_blas(array, dtype):
    """As dtype, with rows that lie in memory as BLAS reads them; else NumPy multiplies without BLAS."""
    array = array.astype(dtype, copy=False)
    rows, entries = array.strides[-2:]
    packed = entries == array.itemsize and rows >= array.shape[-1] * array.itemsize
    return array if packed else np.ascontiguousarray(array)
