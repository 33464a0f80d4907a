"""Assignment a5: the online softmax, and attention in bounded memory."""

import numpy as np

from tinyattn.grading.assignment import Assignment, Call, Question, Test, sizes

MEMORY = 4 << 20  # bytes; the inputs travel through the same process, and the table of scores would need more


def knowledge(rng, shape, size=3.0, around=0.0):
    """Peak and total of some piece of each row."""
    return around + size * rng.normal(size=shape), 1 + 3 * rng.random(shape)


def some_keys(rng, shape):
    """A boolean mask in which every query may attend to one key at least."""
    mask = rng.random(shape) < 0.5
    np.put_along_axis(mask, rng.integers(0, shape[-1], (*shape[:-1], 1)), True, axis=-1)
    return mask


# merge ----------------------------------------------------------------------------------------------------------------


def merge_small(rng):
    peak_a, total_a = knowledge(rng, 2, 0.3)
    peak_b, total_b = knowledge(rng, 2, 0.3)
    return Call(peak_a + np.array([2, 0]), total_a, peak_b + np.array([0, 2]), total_b)


def merge_rows(rng):
    (n,) = sizes(rng, 1, 8, 14)
    return Call(*knowledge(rng, n), *knowledge(rng, n))


def merge_batch(rng):
    shape = sizes(rng, 3)
    return Call(*knowledge(rng, shape), *knowledge(rng, shape))


def merge_large(rng):
    return Call(*knowledge(rng, 8, around=1000), *knowledge(rng, 8, around=1000))


def merge_negative(rng):
    return Call(*knowledge(rng, 8, around=-1000), *knowledge(rng, 8, around=-1000))


def merge_far_apart(rng):
    signs = np.array([1, -1, 1, -1, 1, -1])
    return Call(*knowledge(rng, 6, around=900 * signs), *knowledge(rng, 6, around=-900 * signs))


def merge_nothing_yet(rng):
    """Row 0 has nothing in a, row 1 nothing in b."""
    (peak_a, total_a), (peak_b, total_b) = knowledge(rng, 4), knowledge(rng, 4)
    peak_a[0], total_a[0], peak_b[1], total_b[1] = -np.inf, 0, -np.inf, 0
    return Call(peak_a, total_a, peak_b, total_b)


def merge_nothing_at_all(rng):
    """Row 2 has nothing in either."""
    (peak_a, total_a), (peak_b, total_b) = knowledge(rng, 5), knowledge(rng, 5)
    peak_a[2], total_a[2], peak_b[2], total_b[2] = -np.inf, 0, -np.inf, 0
    return Call(peak_a, total_a, peak_b, total_b)


def merge_float32(rng):
    return Call(*(x.astype(np.float32) for x in (*knowledge(rng, (4, 6)), *knowledge(rng, (4, 6)))))


# add_block ------------------------------------------------------------------------------------------------------------


def state(rng, *shape, Ev, around=0.0):
    """What is known after some keys: peak, total, output."""
    return *knowledge(rng, shape, 1.5, around), 2 * rng.normal(size=(*shape, Ev))


def nothing(*shape, Ev):
    return np.full(shape, -np.inf), np.zeros(shape), np.zeros((*shape, Ev))


def block_first(rng):
    return Call(*nothing(2, Ev=2), 0.5 * rng.normal(size=(2, 3)) - 2, rng.normal(size=(3, 2)))


def block_second(rng):
    """The first row's peak stays, the second's rises."""
    peak, total, output = state(rng, 2, Ev=2)
    peak, scores = np.array([2.5, -3.5]) + 0.1 * peak, 0.3 * rng.normal(size=(2, 3)) - 1.5
    return Call(peak, total, output, scores, rng.normal(size=(3, 2)))


def block_rows(rng):
    L, T, Ev = sizes(rng, 3, 5, 12)
    return Call(*state(rng, L, Ev=Ev), 2 * rng.normal(size=(L, T)), rng.normal(size=(T, Ev)))


def block_batch(rng):
    B, H, L, T, Ev = sizes(rng, 5, 2, 9)
    before, scores = state(rng, B, H, L, Ev=Ev, around=-3), 2 * rng.normal(size=(B, H, L, T)) - 5
    return Call(*before, scores, value=rng.normal(size=(B, H, T, Ev)))


def block_square(rng):
    (n,) = sizes(rng, 1, 4, 9)
    return Call(*state(rng, n, Ev=n), 2 * rng.normal(size=(n, n)), rng.normal(size=(n, n)))


def block_first_batch(rng):
    B, L, T, Ev = sizes(rng, 4)
    return Call(*nothing(B, L, Ev=Ev), 2 * rng.normal(size=(B, L, T)) - 6, rng.normal(size=(B, T, Ev)))


def block_single(rng):
    L, Ev = sizes(rng, 2, 6, 12)
    return Call(*state(rng, L, Ev=Ev), 2 * rng.normal(size=(L, 1)), rng.normal(size=(1, Ev)))


def block_large(rng):
    return Call(*state(rng, 7, Ev=3, around=1000), 1000 + 2 * rng.normal(size=(7, 5)), rng.normal(size=(5, 3)))


def block_negative(rng):
    return Call(*state(rng, 7, Ev=3, around=-1000), -1000 + 2 * rng.normal(size=(7, 5)), rng.normal(size=(5, 3)))


def block_rising(rng):
    return Call(*state(rng, 7, Ev=3, around=-900), 900 + 2 * rng.normal(size=(7, 5)), rng.normal(size=(5, 3)))


def block_falling(rng):
    return Call(*state(rng, 7, Ev=3, around=900), -900 + 2 * rng.normal(size=(7, 5)), rng.normal(size=(5, 3)))


def block_masked(rng):
    L, T, Ev = sizes(rng, 3, 5, 12)
    peak, total, output = state(rng, L, Ev=Ev, around=-6)
    peak = peak + np.where(np.arange(L) % 2, 5, -5)  # stays in some rows, rises in others
    scores = np.where(some_keys(rng, (L, T)), 2 * rng.normal(size=(L, T)) - 6, -np.inf)
    return Call(peak, total, output, scores, rng.normal(size=(T, Ev)))


def block_masked_row(rng):
    """A block in which two rows see nothing."""
    L, T, Ev = sizes(rng, 3, 5, 12)
    scores = 2 * rng.normal(size=(L, T))
    scores[1] = scores[3] = -np.inf
    return Call(*state(rng, L, Ev=Ev), scores, rng.normal(size=(T, Ev)))


def block_masked_first(rng):
    """The first block, in which two rows see nothing."""
    L, T, Ev = sizes(rng, 3, 5, 12)
    scores = 2 * rng.normal(size=(L, T))
    scores[1] = scores[3] = -np.inf
    return Call(*nothing(L, Ev=Ev), scores, rng.normal(size=(T, Ev)))


def block_float32(rng):
    call = block_batch(rng)
    return Call(*(x.astype(np.float32) for x in (*call.args, call.kwargs["value"])))


# tiled_attention ------------------------------------------------------------------------------------------------------


def inputs(rng, *front, L, S, E=None, Ev=None):
    widths = sizes(rng, 2, 6, 10)  # never a block
    E, Ev = E or widths[0], Ev or widths[1]
    return [1.5 * rng.normal(size=(*front, *shape)) for shape in ((L, E), (S, E), (S, Ev))]


def attend_small(rng):
    query, key, value = inputs(rng, L=2, S=3, E=4, Ev=2)
    key[:2], key[2] = key[:2] / 3, query[0]  # the second block raises the first query's peak
    return Call(query, key, value, block=2)


def attend_parts(rng):
    return Call(*inputs(rng, 2, L=11, S=13), block=5)


def attend_whole_blocks(rng):
    return Call(*inputs(rng, 3, 2, L=10, S=12), None, False, 4)


def attend_ones(rng):
    return Call(*inputs(rng, L=10, S=9), block=1)


def attend_one_block(rng):
    return Call(*inputs(rng, 2, L=11, S=9), block=16)


def attend_exact_block(rng):
    return Call(*inputs(rng, 2, L=11, S=9), block=9)


def attend_default(rng):
    return Call(*inputs(rng, 2, L=10, S=150))


def attend_single(rng):
    return Call(*inputs(rng, 2, L=1, S=17), block=6)


def shifted(rng, shifts):
    """Inputs in which the shift of each key is added to its scores."""
    query, key, value = inputs(rng, 2, L=9, S=len(shifts), E=9)
    query[..., 0], key[..., 0] = 1, 3 * np.asarray(shifts)  # 3 is sqrt(E)
    return Call(query, key, value, block=4)


def attend_rising(rng):
    return shifted(rng, np.linspace(-1000, 1000, 14))


def attend_falling(rng):
    return shifted(rng, np.linspace(1000, -1000, 14))


def attend_large(rng):
    return shifted(rng, np.full(14, 1000))


def attend_negative(rng):
    return shifted(rng, np.full(14, -1000))


def attend_mask(rng):
    mask = some_keys(rng, (2, 10, 13))
    mask[..., 0] = True
    return Call(*inputs(rng, 2, L=10, S=13), mask=mask, block=5)


def attend_mask_shared(rng):
    mask = some_keys(rng, (10, 13))
    mask[:, 1] = True
    return Call(*inputs(rng, 3, 2, L=10, S=13), mask, block=5)


def attend_padding(rng):
    mask = (np.arange(13) < np.array([7, 13, 2])[:, None])[:, None, None, :]
    return Call(*inputs(rng, 3, 2, L=10, S=13), mask=mask, block=4)


def attend_late(rng):
    """Keys that can be seen come only after whole blocks of others."""
    mask = some_keys(rng, (10, 13))
    mask[:3, :10], mask[:3, 10] = False, True
    mask[5] = np.arange(13) == 12
    return Call(*inputs(rng, 2, L=10, S=13), mask=mask, block=4)


def attend_empty(rng):
    mask = some_keys(rng, (10, 13))
    mask[1] = mask[-1] = False
    return Call(*inputs(rng, 2, L=10, S=13), mask=mask, block=5)


def attend_empty_all(rng):
    mask = (np.arange(13) < np.array([7, 0])[:, None])[:, None, :]
    return Call(*inputs(rng, 2, L=10, S=13), mask=mask, block=5)


def attend_causal(rng):
    return Call(*inputs(rng, 2, L=13, S=13), is_causal=True, block=4)


def attend_causal_whole(rng):
    return Call(*inputs(rng, 2, L=12, S=12), None, True, 4)


def attend_causal_more_keys(rng):
    return Call(*inputs(rng, 2, L=9, S=14), is_causal=True, block=4)


def attend_causal_more_queries(rng):
    return Call(*inputs(rng, 2, L=14, S=9), is_causal=True, block=4)


def attend_causal_one_block(rng):
    return Call(*inputs(rng, 2, L=11, S=11), is_causal=True)


def attend_causal_mask(rng):
    mask = some_keys(rng, (2, 13, 13))
    mask[:, :, 0] = mask[:, :, -1] = True
    return Call(*inputs(rng, 2, L=13, S=13), mask=mask, is_causal=True, block=5)


def attend_causal_mask_late(rng):
    mask = some_keys(rng, (13, 13))
    mask[:, :5], mask[:, 8] = False, True
    return Call(*inputs(rng, 2, L=13, S=13), mask=mask, is_causal=True, block=4)


def attend_float32(rng):
    return Call(*(x.astype(np.float32) for x in inputs(rng, 2, 3, L=10, S=13)), is_causal=True, block=4)


def attend_many_keys(rng):
    return Call(*inputs(rng, L=64, S=8192, E=2, Ev=3), block=128)


def attend_many_keys_causal(rng):
    return Call(*inputs(rng, L=512, S=10240, E=2, Ev=3), is_causal=True, block=64)


ASSIGNMENT = Assignment(
    title="The online softmax, and attention in bounded memory",
    file="a5_tiled_attention.py",
    questions=(
        Question(
            "merge",
            (
                Test("small", 3, (merge_small,), public=True, about="two rows"),
                Test("batch", 6, (merge_rows, merge_batch), about="many rows, a batch"),
                Test("far", 6, (merge_large, merge_negative, merge_far_apart), about="peaks near 1000 and -1000"),
                Test("nothing", 6, (merge_nothing_yet, merge_nothing_at_all), about="pieces without a key"),
                Test("float32", 2, (merge_float32,), about="float32 inputs"),
            ),
            names=("peak", "total"),
        ),
        Question(
            "add_block",
            (
                Test("first", 3, (block_first,), public=True, about="the first block of two queries"),
                Test("second", 3, (block_second,), public=True, about="a second block"),
                Test("batch", 7, (block_rows, block_batch, block_square, block_single), about="other sizes, a batch"),
                Test("first_batch", 2, (block_first_batch,), about="the first block of a batch"),
                Test(
                    "far",
                    6,
                    (block_large, block_negative, block_rising, block_falling),
                    about="scores near 1000 and -1000",
                ),
                Test("masked", 3, (block_masked,), about="scores of -inf"),
                Test("nothing", 6, (block_masked_row, block_masked_first), about="rows that see no key of a block"),
                Test("float32", 2, (block_float32,), about="float32 inputs"),
            ),
            names=("peak", "total", "output"),
        ),
        Question(
            "tiled_attention",
            (
                Test("small", 3, (attend_small,), public=True, about="two queries, three keys, blocks of two"),
                Test(
                    "blocks",
                    7,
                    (
                        attend_parts,
                        attend_whole_blocks,
                        attend_ones,
                        attend_one_block,
                        attend_exact_block,
                        attend_single,
                    ),
                    about="blocks that fit and blocks that do not",
                ),
                Test("default", 2, (attend_default,), about="150 keys, the default block"),
                Test(
                    "far",
                    4,
                    (attend_rising, attend_falling, attend_large, attend_negative),
                    about="scores near 1000 and -1000",
                ),
                Test("mask", 4, (attend_mask, attend_mask_shared, attend_padding), about="a mask"),
                Test("late", 3, (attend_late,), about="the first keys that are seen come late"),
                Test("empty_rows", 3, (attend_empty, attend_empty_all), about="queries that see no key"),
                Test(
                    "causal",
                    4,
                    (attend_causal, attend_causal_whole, attend_causal_one_block),
                    about="causal",
                ),
                Test(
                    "causal_lengths",
                    2,
                    (attend_causal_more_keys, attend_causal_more_queries),
                    about="causal with L and S different",
                ),
                Test(
                    "causal_mask", 3, (attend_causal_mask, attend_causal_mask_late), about="causal and a mask together"
                ),
                Test("float32", 2, (attend_float32,), about="float32 inputs"),
                Test("memory", 5, (attend_many_keys,), about="many keys", memory=MEMORY, seconds=6),
                Test(
                    "memory_causal", 3, (attend_many_keys_causal,), about="the same, causal", memory=MEMORY, seconds=6
                ),
            ),
            needs=("merge", "add_block"),
            trace=("add_block",),
        ),
    ),
)
