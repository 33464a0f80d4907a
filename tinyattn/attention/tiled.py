"""The same attention without the table of scores: block by block, so that memory grows with n and not with n squared.

A row of softmax needs its largest score and its sum. Both can be kept up to date while the keys go by: when a larger
score turns up, what was summed so far shrinks by exp(old peak - new peak) (Milakov and Gimelshein, 2018). Backward does
not store the weights either: it makes each block again from the peaks and sums (FlashAttention, Dao et al., 2022).
"""

import math
from functools import cache
from pathlib import Path

import numpy as np

from tinyattn.attention.arguments import check_flag, dropout_settings, floating_inputs, group_heads
from tinyattn.attention.blas import product, second_factor
from tinyattn.attention.blocks import band_of, before, blocks, seeing, seen, split
from tinyattn.attention.dropout import dropout, keep_block
from tinyattn.attention.masks import causal_offset, window_sides
from tinyattn.attention.step1_scores import check_scores
from tinyattn.attention.step2_scale import scale_factor
from tinyattn.attention.step3_softmax import check_mask, fused_softmax_cuda
from tinyattn.attention.step4_weighted_sum import check_weighted_sum
from tinyattn.attention.workers import share
from tinyattn.backend import is_cupy, namespace, widen
from tinyattn.ops import batch_of, matrix_product, reshape, selective_product
from tinyattn.tensor import Tensor, as_tensor, op

BLOCK = 1024, 256  # queries and keys of a block of scores: 1 MiB in float32, a core's own cache
PARTS, SHORTEST = 8, 256  # of the work, where heads and queries or keys are enough for parts of this many
SHARED = 2**16  # scores of a table from which on two workers beat one
FASTER, FEWEST = 2**20, 64  # scores of all tables, and queries of each, from which on blocks beat the four steps
SMALL, LARGE = 1e-12, 1e12  # sums of exp within which it has neither lost entries nor come near the largest float32


def attend_by_tiles(query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa, window, align, rng):
    """The output of attention_steps without a table of scores, nor copies of grouped heads or masks of diagonals."""
    query, key, value = floating_inputs(query, key, value, enable_gqa, repeat=False)
    check_flag("is_causal", is_causal)
    offset = causal_offset(query.shape[-2], key.shape[-2], align) if min(query.ndim, key.ndim) > 1 else 0
    dropped = dropout_settings(dropout_p, rng)
    heads = query.shape[-3:-2]
    if enable_gqa:
        query, key, value = (group_heads(t, key.shape[-3]) for t in (query, key, value))
    check_scores(query.data, key.data)
    lead = batch_of(query.shape[:-2], key.shape[:-2], "scores", query, key)
    table = np.broadcast_to(np.float32(), (*lead, query.shape[-2], key.shape[-2]))  # what is never made
    check_weighted_sum(table, value.data)
    if attn_mask is not None:
        attn_mask = attn_mask if isinstance(attn_mask, Tensor) else as_tensor(attn_mask, device=query.device)
        check_mask(attn_mask, (*lead[:-2], *heads, *table.shape[-2:]) if enable_gqa else table.shape)
        if enable_gqa and attn_mask.ndim > 2:
            attn_mask = group_heads(attn_mask, key.shape[-4])
    learnt = attn_mask is not None and attn_mask.requires_grad
    output = tiled_attention(
        query,
        key,
        value,
        attn_mask if learnt else None,
        attn_mask=None if learnt or attn_mask is None else attn_mask.data,
        is_causal=is_causal,
        window=(None, None) if window is None else window_sides(window),
        offset=offset,
        factor=scale_factor(scale, query.shape[-1]),
        dropout_p=dropped["p"],
        seed=dropped["seed"],
    )
    return reshape(output, (*output.shape[:-4], *heads, *output.shape[-2:])) if enable_gqa else output


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

    output = call.output.reshape(*call.batch, *call.output.shape[1:])
    return output.astype(np.result_type(query, key, value), copy=False), vjp


@tiled_attention.cuda
def tiled_attention_cuda(
    query, key, value, bias, *,
    attn_mask=None, is_causal=False, window=(None, None), offset=0, factor, dropout_p=0.0, seed=0, workers=None,
):  # fmt: skip
    """One launch forward, two backward (tiled.cu); with a table where that has no kernel, see `has_kernel`."""
    low, high = band_of(is_causal, window, offset, query.shape[-2], key.shape[-2])
    if bias is not None or not has_kernel(query, key, value, attn_mask, dropout_p):
        return _with_table(query, key, value, bias, attn_mask, low, high, factor, dropout_p, seed)
    xp = namespace(query)
    shared = np.broadcast_shapes(key.shape[:-2], value.shape[:-2])
    batch = np.broadcast_shapes(query.shape[:-2], shared)
    shared = (1,) * (len(batch) - len(shared)) + shared
    if (*shared[:-1], *batch[-1:]) != batch:  # only the last axis may stay shared
        shared = batch
    L, S, E, Ev = query.shape[-2], key.shape[-2], key.shape[-1], value.shape[-1]
    query, key, value = (
        xp.ascontiguousarray(xp.broadcast_to(x, (*lead, *x.shape[-2:])))
        for x, lead in ((query, batch), (key, shared), (value, shared))
    )
    sizes = (math.prod(batch) // math.prod(shared), L, S, E, Ev, low, high, np.float32(factor))
    output = xp.empty((*batch, L, Ev), query.dtype)
    peaks, inverses = (xp.empty((*batch, L), np.float32) for _ in range(2))
    _launch("forward", math.prod(batch), L, (query, key, value, output, peaks, inverses), sizes)

    def vjp(grad):
        grad = xp.ascontiguousarray(grad.astype(query.dtype, copy=False))
        means = xp.sum(widen(grad) * widen(output), axis=-1)
        given = query, key, value, grad, peaks, inverses, means
        d_query, d_key, d_value = (xp.empty(x.shape, x.dtype) for x in (query, key, value))
        _launch("queries", math.prod(batch), L, (*given, d_query), sizes)
        _launch("keys", math.prod(shared), S, (*given, d_key, d_value), sizes)
        return d_query, d_key, d_value, None

    return output, vjp


def _with_table(query, key, value, bias, attn_mask, low, high, factor, dropout_p, seed):
    """The same by the fused softmax."""
    xp = namespace(query)
    raw = matrix_product(query, key.swapaxes(-1, -2))
    distance = xp.arange(raw.shape[-1]) - xp.arange(raw.shape[-2])[:, None]
    keep = (low <= distance) & (distance <= high)
    added = bias
    if attn_mask is not None and attn_mask.dtype == bool:
        keep = keep & attn_mask
    elif attn_mask is not None:
        added = attn_mask if bias is None else bias + attn_mask
    weights, softmax_vjp = fused_softmax_cuda(raw, added, keep=keep, factor=factor)
    dropped, dropout_vjp = dropout.forward(weights, p=dropout_p, seed=seed)

    def vjp(grad):
        (d_weights,) = (rule(matrix_product(grad, value.swapaxes(-1, -2))) for rule in dropout_vjp)
        rules = (
            softmax_vjp
            if isinstance(softmax_vjp, tuple)
            else (lambda g: softmax_vjp(g)[0], lambda g: softmax_vjp(g)[1])
        )
        d_scores, d_bias = rules[0](d_weights), None if bias is None else rules[1](d_weights)
        d_key = selective_product(d_scores.swapaxes(-1, -2), query)
        return selective_product(d_scores, key), d_key, matrix_product(dropped.swapaxes(-1, -2), grad), d_bias

    return matrix_product(dropped, value), vjp


def has_kernel(query, key, value, attn_mask=None, dropout_p=0.0):
    """Whether tiled.cu can do it: float32 or float16, E and Ev up to 128, masked by nothing but a diagonal."""
    return (
        query.dtype == key.dtype == value.dtype
        and query.dtype in (np.float32, np.float16)
        and max(key.shape[-1], value.shape[-1]) <= 128
        and 0 not in (query.size, key.size, value.size)
        and attn_mask is None
        and dropout_p == 0
    )


@cache
def _kernel(name, device):
    from tinyattn import kernels  # only a launch needs it

    return kernels.load(Path(__file__).with_suffix(".cu"), device).get_function(name)


def _launch(kind, tables, length, arrays, sizes):
    query, _, value = arrays[:3]
    width = 64 if max(query.shape[-1], value.shape[-1]) <= 64 else 128
    kernel = _kernel(f"{kind}_{query.dtype}_{width}", "cuda" if is_cupy(query) else "emulated")
    rows, held = (64, 1) if kind == "forward" else (32, 2)  # of a tile, and how many tiles beside that which goes by
    floats = (held * rows + 32) * (width + 1) + rows * 33
    kernel((tables, -(-length // rows)), (128,), (*arrays, *sizes), shared_mem=4 * floats)


def tiled_is_faster(query, key):
    """Whether method="auto" takes the blocks: on the CPU, from 2^20 scores on in all heads together, where each has at
    least 2^16 and 64 queries. As measured, forward and backward: few queries make products that are faster in one
    piece, and small tables are nothing to share."""
    on_cpu = all(getattr(x, "device", "cpu") == "cpu" for x in (query, key))
    L, S = (math.prod(np.shape(x)[-2:-1]) for x in (query, key))
    return on_cpu and math.prod(np.shape(query)[:-1]) * S >= FASTER and L * S >= SHARED and L >= FEWEST


class _Call:
    """One call. Its arrays are lists of tables: a table is what belongs to the L x S scores of one head."""

    def __init__(self, query, key, value, bias, attn_mask, is_causal, window, offset, factor, dropout_p, seed, workers):
        given = [np.atleast_2d(x) for x in (bias, attn_mask) if x is not None]
        self.dtype = np.result_type(query, key, value, np.float32)
        self.batch = np.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value, *given)))
        self.shared = np.broadcast_shapes(key.shape[:-2], value.shape[:-2])
        self.L, self.S, self.E, self.Ev = query.shape[-2], key.shape[-2], key.shape[-1], value.shape[-1]
        self.query, self.key, self.value = (self.tables(_for_blas(x, self.dtype)) for x in (query, key, value))
        self.bias_shape: tuple[int, ...] = given[0].shape if given else ()
        self.biases = [self.tables(x) for x in given if x.dtype != bool]
        self.masks = [self.tables(x) for x in given if x.dtype == bool]
        self.dropout_p, self.seed = dropout_p, seed
        self.workers = workers if self.L * self.S >= SHARED else 1
        self.key_owners = self.owners(key.shape[:-2])
        self.numbers = self.owners(np.broadcast_shapes(query.shape[:-2], key.shape[:-2]))  # of the tables, for dropout

        self.band = band_of(is_causal, window, offset, self.L, self.S)
        self.factor = factor
        self.known_bounds: dict[int, bool] = {}
        self.known_columns: dict[int, np.ndarray] = {}
        tall = math.prod(self.batch) * -(-self.L // BLOCK[0])  # parts, which may be too few for all workers
        self.forward_size = BLOCK if tall >= PARTS else BLOCK[::-1]
        self.ones = np.ones(max(BLOCK), self.dtype)

    def forward(self):
        """Sets output, and for backward each row's peak, its total, the sum of exp(score - peak), and whether plain."""
        count = math.prod(self.batch)
        self.output = np.empty((count, self.L, self.Ev), self.dtype)
        self.peak, self.total = np.empty((2, count, self.L), self.dtype)
        self.plain = np.empty((count, self.L), dtype=bool)

        def work(tasks):
            memory = np.empty(math.prod(BLOCK), self.dtype)
            for table, rows in tasks:
                plain = self.bounded(table) and self.attend(tasks, memory, table, rows, plain=True)
                if not plain:
                    self.attend(tasks, memory, table, rows, plain=False)
                self.plain[table, rows] = plain

        # the longest rows of a causal table first, so that what the last worker still has to do is short
        parts = split(slice(0, self.L), self.forward_size[0])[::-1]
        share(work, [(table, rows) for rows in parts for table in range(count)], self.workers)

    def attend(self, tasks, memory, table, rows, plain):
        """Output, peak and total of a block of rows; returns whether they are right.

        plain spares the passes that find and subtract the peak, which only keeps exp within the range of a float. Where
        the sums show that it is needed, what is returned is False, and all is to be done again with plain=False.
        """
        exp, query = self.exponential(table, rows)
        columns, value, output = self.columns(table), self.value[table], self.output[table, rows]
        if self.masks or not plain:  # else each row's first block is written, or total tells
            output[...] = 0
        peak = np.full(len(query), 0 if plain else -np.inf, self.dtype)
        total = np.zeros(len(query), self.dtype)
        places = blocks(rows, slice(0, self.S), self.band, self.forward_size, self.dtype)
        for block in tasks.parts(places):
            here, k = block.here, block.keys
            hidden = self.hidden(table, block)
            if hidden is None:
                continue
            weights = self.scores(memory, query[here], columns[:, k], table, block, hidden, plain)
            if not plain:
                higher = np.maximum(peak[here], weights.max(axis=1))
                base = np.where(np.isneginf(higher), 0, higher)  # of a row that has not seen a key so far
                shrink = exp(peak[here] - base)
                output[here] *= shrink[:, None]
                total[here] *= shrink
                peak[here] = higher
                weights -= base[:, None]
            _weigh(exp, weights, hidden, plain)
            total[here] += weights @ self.ones[: weights.shape[1]]  # BLAS sums faster than np.sum
            if plain and not block.met and not total.max() < LARGE:  # the first block can save the others
                return False
            if self.dropout_p:
                weights *= self.dropout_factor(table, block)
            _add_product(output[here], weights, value[k], block.met)
        if plain and not (total.min() > SMALL and total.max() < LARGE):  # which NaN is not either
            return False
        if not plain:
            unseen = total == 0  # rows without a key: zero over one, not over zero
            peak[unseen], total[unseen] = 0, 1
        output /= total[:, None]
        self.peak[table, rows], self.total[table, rows] = peak, total
        return True

    def backward(self, grad):
        """Gradients of query, key and value, given that of the output.

        With weights P and D = rowsum(grad * output): d_value = P^T grad, and the scores' gradient is
        P * (grad value^T - D), whose products with key and query are the other two.
        """
        grads = self.tables(grad)
        owners = self.owners(self.shared)
        length = max(SHORTEST, -(-self.S * math.prod(self.shared) // PARTS))
        every = slice(0, self.L)
        panels = split(slice(0, self.S), length) or [slice(0, 0)]
        # the panels of a table add to the same queries: each does so for itself, and their sums are added up in order;
        # all three gradients are written first and added to later, and what no block writes is cleared
        d_queries = [np.empty((*self.batch, self.L, self.E), self.dtype) for _ in panels]
        d_key = np.empty((*self.shared, self.S, self.E), self.dtype)
        d_value = np.empty((*self.shared, self.S, self.Ev), self.dtype)

        def work(tasks):
            memory = np.empty(2 * math.prod(BLOCK), self.dtype)
            for owner, panel, d_query in tasks:
                d_q, d_k, d_v = _tables(d_query), _tables(d_key)[owner], _tables(d_value)[owner]
                rows, keys = seeing(panel, every, self.band), seen(every, panel, self.band)
                if self.masks:  # which may hide a whole block: then it is not written
                    rows, keys = slice(0, 0), slice(panel.start, panel.start)
                _clear(d_k, panel, keys)
                _clear(d_v, panel, keys)
                users = np.flatnonzero(owners == owner)
                for table in users:
                    _clear(d_q[table], every, rows)
                    again = self.again(tasks, memory, table, every, panel, grads[table], self.factor)
                    for block, met, weights, d_scores, grad, multiply in again:
                        query, key = self.query[table][block.rows], self.key[table][block.keys]
                        met = met if table == users[0] else len(key)
                        _add_product(d_v[block.keys], weights.T, grad, met)
                        _add_product(d_k[block.keys], d_scores.T, query, met, multiply)
                        _add_product(d_q[table, block.rows], d_scores, key, block.met, multiply)

        # the first panel of a causal table is the longest
        owned = range(math.prod(self.shared))
        tasks = [(owner, *part) for owner in owned for part in zip(panels, d_queries, strict=True)]
        share(work, tasks, self.workers)
        for d_query in d_queries[1:]:
            d_queries[0] += d_query
        return d_queries[0], d_key, d_value

    def bias_gradient(self, grad):
        """Gradient of the bias: the scores' gradient, summed over the axes along which the bias broadcasts."""
        grads, shape = self.tables(grad), self.bias_shape
        owners = self.owners(shape[:-2])
        d_bias = np.empty((math.prod(shape[:-2]), *shape[-2:]), self.dtype)
        stretched = tuple(axis for axis in (0, 1) if d_bias.shape[axis + 1] == 1)
        # rows of the bias can be shared out; one row for all queries is added up in order, by one worker
        every = slice(0, self.L)
        parts = split(every, BLOCK[0]) if d_bias.shape[1] > 1 else [every]

        def work(tasks):
            memory = np.empty(2 * math.prod(BLOCK), self.dtype)
            for owner, rows in tasks:
                _part(d_bias[owner], rows, slice(None))[...] = 0
                for table in np.flatnonzero(owners == owner):
                    again = self.again(tasks, memory, table, rows, slice(0, self.S), grads[table], 1)
                    for block, _, _, d_scores, *_ in again:
                        d_part = _part(d_bias[owner], block.rows, block.keys)
                        d_part += d_scores.sum(axis=stretched, keepdims=True)

        share(work, [(owner, rows) for owner in range(len(d_bias)) for rows in parts], self.workers)
        return d_bias.reshape(shape)

    def again(self, tasks, memory, table, queries, panel, grad, factor):
        """For each block of queries and panel: the block, how many of its keys, the first ones, blocks before it have
        too, its weights, factor times its scores' gradient, what the weights multiply, and how that gradient is to be
        multiplied.

        Three things spare passes over the block. The weights stay undivided, and grad, which is smaller, is divided by
        total instead; factor has been multiplied into value; and D, and peak where there is one, are subtracted by one
        more column in the products.
        """
        queries = seeing(panel, queries, self.band)
        plain = bool(self.plain[table, queries].all())
        shifted = not plain and not self.biases  # which can dwarf the scores, and the peak with them: it comes after
        multiply = product if plain else selective_product  # leaves out masked keys that are infinite or NaN
        columns = self.columns(table)[:, panel]
        if shifted:
            columns = second_factor(_with_column(self.key[table][panel], 1, 1).T)
        values = second_factor(_with_column(self.value[table][panel], factor, 1).T)
        for_weights, for_d_scores = np.split(memory, 2)
        reached = panel.start
        for rows in split(queries, BLOCK[0]):
            peak, total = self.peak[table, rows], self.total[table, rows]
            exp, query = self.exponential(table, rows)
            if shifted:
                query = _with_column(query, 1, -peak)
            divided = _with_column(grad[rows], 1 / total[:, None], 0)
            mean = factor * np.einsum("ij,ij->i", divided[:, :-1], self.output[table, rows])  # D
            if not self.dropout_p:
                divided[:, -1] = -mean
            for block in tasks.parts(blocks(rows, panel, self.band, BLOCK, self.dtype)):
                here, there = block.here, block.there
                met, reached = before(reached, block.keys), max(reached, block.keys.stop)
                hidden = self.hidden(table, block)
                if hidden is None:
                    continue
                weights = self.scores(for_weights, query[here], columns[:, there], table, block, hidden, plain)
                if not plain and not shifted:
                    weights -= peak[here, None]
                _weigh(exp, weights, hidden, plain)
                d_scores = product(divided[here], values[:, there], block.of(for_d_scores))
                if self.dropout_p:
                    dropped = self.dropout_factor(table, block)
                    d_scores *= dropped
                    d_scores -= mean[here, None]
                d_scores *= weights
                if self.dropout_p:
                    weights *= dropped
                yield block, met, weights, d_scores, divided[here, :-1], multiply

    def columns(self, table):
        """The keys of a table, (E, S), as products take them; kept, for all tables that share them and for backward."""
        owner = self.key_owners[table]
        if owner not in self.known_columns:
            self.known_columns[owner] = second_factor(self.key[table].T)
        return self.known_columns[owner]

    def bounded(self, table):
        """Whether all inputs of a table are within LARGE: nothing overflows, and no infinite key hides behind a score
        of -inf, which no sum shows, and spoils backward's products."""
        if table not in self.known_bounds:
            squares = (np.vdot(x[table], x[table]) for x in (self.query, self.key, self.value))
            self.known_bounds[table] = abs(self.factor) < LARGE and all(square < LARGE**2 for square in squares)
        return self.known_bounds[table]

    def exponential(self, table, rows):
        """(exp, query): the function that, of query's products with keys, makes exp of the scores; to the bit the same
        in forward and backward."""
        # a unit could overflow what is not bounded, and would have to be multiplied into the biases as well
        fast = self.bounded(table) and not self.biases
        exp, unit = _fastest_exp(np.dtype(self.dtype)) if fast else (np.exp, 1.0)
        return exp, self.query[table][rows] * (self.factor * unit)

    def scores(self, memory, query, columns, table, block, hidden, plain):
        """One block of scores, in memory, with every mask that has to come before exp."""
        scores = product(query, columns, block.of(memory))
        for bias in self.biases:
            scores += _part(bias[table], block.rows, block.keys)
        if not plain:
            for part, keep in hidden:
                np.copyto(scores[part], -np.inf, where=keep == 0)
        return scores

    def dropout_factor(self, table, block):
        kept = keep_block(block.rows, block.keys, self.dropout_p, self.seed, int(self.numbers[table]))
        return kept * self.dtype.type(1 / (1 - self.dropout_p) if self.dropout_p < 1 else 0)

    def hidden(self, table, block):
        """block.hidden, and what boolean masks hide; None where that is all of it."""
        hidden = block.hidden
        for mask in self.masks:
            keep = _part(mask[table], block.rows, block.keys)
            if not keep.any():
                return None
            if not keep.all():
                hidden = [*hidden, ((slice(None), slice(None)), keep)]
        return hidden

    def tables(self, array):
        """The last two axes for every position in the batch."""
        array = np.broadcast_to(array, (*self.batch, *array.shape[-2:]))
        return [array[index] for index in np.ndindex(self.batch)]

    def owners(self, lead):
        """For every table, which of the tables of an array with these leading axes it uses."""
        return np.broadcast_to(np.arange(math.prod(lead)).reshape(lead), self.batch).ravel()


def _add_product(to, a, b, met, multiply=product):
    """to += a b; of the rows of to, only as many as met have been written before."""
    if met:
        to[met:] = 0
        to += multiply(a, b)
    elif multiply is product:
        product(a, b, out=to)
    else:
        to[...] = multiply(a, b)


def _clear(array, whole, written):
    """Zeros in the rows of whole that are not written."""
    array[whole.start : written.start] = array[written.stop : whole.stop] = 0


def _weigh(exp, scores, hidden, plain):
    exp(scores, out=scores)
    if plain:  # every score is finite, and a product is ten times as fast as a choice
        for part, keep in hidden:
            scores[part] *= keep


def _tables(array):
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def _part(table, r, k):
    return table[r if table.shape[0] > 1 else slice(None), k if table.shape[1] > 1 else slice(None)]


def _with_column(array, factor, column):
    wide = np.empty((array.shape[0], array.shape[1] + 1), array.dtype)
    np.multiply(array, factor, out=wide[:, :-1])
    wide[:, -1] = column
    return wide


@cache
def _fastest_exp(dtype):
    """(function, unit): exp(x) is function(unit * x).

    With AVX-512, NumPy's exp2 takes half the time of its exp; where it has no vector instructions for exp2, twice.
    """
    introspect = getattr(np.lib, "introspect", None)  # which the first NumPy 2 has not
    chosen = introspect.opt_func_info(func_name="^exp2$", signature=dtype.name) if introspect else {}
    vectorized = any(not found["current"].startswith("baseline") for found in chosen.get("exp2", {}).values())
    return (np.exp2, math.log2(math.e)) if vectorized else (np.exp, 1.0)


def _for_blas(array, dtype):
    """As dtype, with rows that lie in memory as BLAS reads them; else NumPy multiplies without BLAS."""
    array = array.astype(dtype, copy=False)
    rows, entries = array.strides[-2:]
    packed = entries == array.itemsize and rows >= array.shape[-1] * array.itemsize
    return array if packed else np.ascontiguousarray(array)
