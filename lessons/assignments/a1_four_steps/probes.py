"""Assignment a1: the four steps of attention, forward."""

import numpy as np

from tinyattn.grading.assignment import Assignment, Call, Question, Test, sizes


def some_keys(rng, shape):
    """A boolean mask in which every query may attend to one key at least, and some to few."""
    mask = rng.random(shape) < 0.5
    np.put_along_axis(mask, rng.integers(0, shape[-1], (*shape[:-1], 1)), True, axis=-1)
    mask[..., 0, :] = np.arange(shape[-1]) == shape[-1] - 1
    return mask


def empty_row(rng, shape):
    """The same, with one query that may attend to no key."""
    mask = some_keys(rng, shape)
    mask[..., 1, :] = False
    return mask


# scores ---------------------------------------------------------------------------------------------------------------


def score_pair(rng):
    L, S, E = sizes(rng, 3, 2, 6)
    return Call(rng.normal(size=(L, E)), rng.normal(size=(S, E)))


def score_batch(rng):
    B, H, L, S, E = sizes(rng, 5, 2, 9)
    return Call(rng.normal(size=(B, H, L, E)), rng.normal(size=(B, H, S, E)))


def score_shared_keys(rng):
    B, L, S, E = sizes(rng, 4)
    return Call(rng.normal(size=(B, L, E)), rng.normal(size=(S, E)))


def score_square(rng):
    L, E = sizes(rng, 2)
    return Call(rng.normal(size=(L, E)), rng.normal(size=(L, E)))


def score_single(rng):
    S, E = sizes(rng, 2)
    return Call(rng.normal(size=(1, E)), rng.normal(size=(S, E)))


def score_float32(rng):
    return Call(*(each.astype(np.float32) for each in score_batch(rng).args))


# scale_scores ---------------------------------------------------------------------------------------------------------


def scale_small(rng):
    return Call(rng.normal(size=(2, 3)), 5)


def scale_batch(rng):
    B, L, S, E = sizes(rng, 4, 2, 30)
    return Call(rng.normal(size=(B, L, S)), E)


def scale_wide(rng):
    L, S = sizes(rng, 2)
    return Call(1000 * rng.normal(size=(L, S)), int(rng.integers(65, 200)))


def scale_float32(rng):
    B, L, S = sizes(rng, 3)
    return Call(rng.normal(size=(B, L, S)).astype(np.float32), int(rng.integers(17, 24)))


# masked_softmax -------------------------------------------------------------------------------------------------------


def row_pair(rng):
    return Call(rng.normal(size=(2, 4)))


def row_batch(rng):
    return Call(2 * rng.normal(size=sizes(rng, 4, 2, 9)))


def row_square(rng):
    (n,) = sizes(rng, 1, 3, 9)
    return Call(2 * rng.normal(size=(n, n)))


def row_one_key(rng):
    return Call(rng.normal(size=(*sizes(rng, 2), 1)))


def row_large(rng):
    L, S = sizes(rng, 2, 3, 12)
    return Call(1000 + 3 * rng.normal(size=(L, S)))


def row_huge_beside_small(rng):
    L, S = sizes(rng, 2, 3, 12)
    rows = rng.normal(size=(L, S))
    rows[0] += 1500
    return Call(rows)


def row_very_negative(rng):
    L, S = sizes(rng, 2, 3, 12)
    return Call(-1000 + 3 * rng.normal(size=(L, S)))


def row_far_apart(rng):
    L, S = sizes(rng, 2, 4, 12)
    return Call(np.where(np.arange(S) % 2, -900, 900) + rng.normal(size=(L, S)))


def row_masked_very_negative(rng):
    L, S = sizes(rng, 2, 4, 12)
    return Call(-2000 + 3 * rng.normal(size=(L, S)), some_keys(rng, (L, S)))


def row_masked_large(rng):
    L, S = sizes(rng, 2, 4, 12)
    return Call(1000 + 3 * rng.normal(size=(L, S)), some_keys(rng, (L, S)))


def row_mask_small(rng):
    return Call(rng.normal(size=(2, 4)), mask=np.array([[True, False, True, False], [True, True, False, True]]))


def row_mask(rng):
    L, S = sizes(rng, 2, 4, 12)
    return Call(2 * rng.normal(size=(L, S)), some_keys(rng, (L, S)))


def row_mask_square(rng):
    (n,) = sizes(rng, 1, 4, 9)
    return Call(2 * rng.normal(size=(n, n)), mask=some_keys(rng, (n, n)))


def row_mask_all(rng):
    L, S = sizes(rng, 2, 4, 12)
    return Call(2 * rng.normal(size=(L, S)), mask=np.ones((L, S), bool))


def row_mask_shared(rng):
    B, H, L, S = sizes(rng, 4, 2, 9)
    return Call(2 * rng.normal(size=(B, H, L, S)), mask=some_keys(rng, (L, S)))


def padding(rng, B, S):
    """A mask (B, 1, 1, S) that leaves each sequence its own number of keys, the first one key only."""
    lengths = rng.integers(1, S + 1, B)
    lengths[0] = 1
    return (np.arange(S) < lengths[:, None])[:, None, None]


def row_mask_padding(rng):
    B, H, L, S = sizes(rng, 4, 3, 9)
    return Call(2 * rng.normal(size=(B, H, L, S)), mask=padding(rng, B, S))


def row_mask_keys(rng):
    B, L, S = sizes(rng, 3, 3, 9)
    return Call(2 * rng.normal(size=(B, L, S)), mask=np.arange(S) != 1)


def row_empty(rng):
    L, S = sizes(rng, 2, 4, 12)
    return Call(2 * rng.normal(size=(L, S)), mask=empty_row(rng, (L, S)))


def row_empty_batch(rng):
    B, L, S = sizes(rng, 3, 3, 9)
    return Call(2 * rng.normal(size=(B, L, S)), mask=empty_row(rng, (B, L, S)))


def row_empty_all(rng):
    L, S = sizes(rng, 2)
    return Call(2 * rng.normal(size=(L, S)), mask=np.zeros((L, S), bool))


def row_float32(rng):
    return Call(row_batch(rng).args[0].astype(np.float32))


def row_mask_float32(rng):
    call = row_mask(rng)
    return Call(call.args[0].astype(np.float32), mask=call.args[1])


# weighted_sum ---------------------------------------------------------------------------------------------------------


def weights_of(rng, *shape):
    weights = np.exp(rng.normal(size=shape))
    return weights / weights.sum(axis=-1, keepdims=True)


def sum_pair(rng):
    return Call(weights_of(rng, 2, 3), rng.normal(size=(3, 4)))


def sum_batch(rng):
    B, H, L, S, Ev = sizes(rng, 5, 2, 9)
    return Call(weights_of(rng, B, H, L, S), rng.normal(size=(B, H, S, Ev)))


def sum_square(rng):
    B, n = sizes(rng, 2, 3, 9)
    return Call(weights_of(rng, B, n, n), rng.normal(size=(B, n, n)))


def sum_shared_values(rng):
    B, L, S, Ev = sizes(rng, 4)
    return Call(weights_of(rng, B, L, S), rng.normal(size=(S, Ev)))


def sum_float32(rng):
    return Call(*(each.astype(np.float32) for each in sum_batch(rng).args))


# attention ------------------------------------------------------------------------------------------------------------


def inputs(rng, *batch, L=None, S=None):
    free = [size for size in sizes(rng, 8, 3, 11) if size not in (L, S)]
    L, S, E, Ev = L or free[0], S or free[1], free[2], free[3]
    return [rng.normal(size=(*batch, *shape)) for shape in ((L, E), (S, E), (S, Ev))]


def attend_small(rng):
    return Call(rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 2)))


def attend(rng):
    return Call(*inputs(rng))


def attend_batch(rng):
    return Call(*inputs(rng, 2, 3))


def attend_square(rng):
    (n,) = sizes(rng, 1, 3, 9)
    return Call(*(rng.normal(size=(n, n)) for _ in range(3)))


def attend_large(rng):
    query, key, value = inputs(rng)
    query[:, 0], key[:, 0] = 1000 * np.sqrt(query.shape[-1]), 1  # every scaled score is 1000 and a little
    return Call(query, key, value)


def attend_mask(rng):
    query, key, value = inputs(rng, 2)
    return Call(query, key, value, mask=some_keys(rng, (query.shape[-2], key.shape[-2])))


def attend_mask_square(rng):
    query, key, value = inputs(rng, 2, L=6, S=6)
    return Call(query, key, value, mask=some_keys(rng, (6, 6)))


def attend_padding(rng):
    query, key, value = inputs(rng, 3, 2)
    return Call(query, key, value, mask=padding(rng, 3, key.shape[-2]))


def attend_empty(rng):
    query, key, value = inputs(rng)
    return Call(query, key, value, mask=empty_row(rng, (query.shape[-2], key.shape[-2])))


def attend_causal_small(rng):
    return Call(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 4)), is_causal=True)


def attend_causal(rng):
    n, b = sizes(rng, 2, 4, 9)
    return Call(*inputs(rng, b, L=n, S=n), is_causal=True)


def attend_causal_more_keys(rng):
    L, S = sorted(sizes(rng, 2, 3, 9))
    return Call(*inputs(rng, 2, L=L, S=S), is_causal=True)


def attend_causal_more_queries(rng):
    S, L = sorted(sizes(rng, 2, 3, 9))
    return Call(*inputs(rng, 2, L=L, S=S), is_causal=True)


def attend_causal_mask(rng):
    query, key, value = inputs(rng, 2, L=5, S=7)
    mask = some_keys(rng, (5, 7))
    mask[:, 0] = mask[0, :3] = True
    return Call(query, key, value, mask=mask, is_causal=True)


def attend_causal_mask_empty(rng):
    query, key, value = inputs(rng, 2, L=6, S=6)
    mask = rng.random((2, 6, 6)) < 0.5
    mask[:, 0, 0] = mask[:, 3, :4] = False
    mask[:, 0, 1] = mask[:, 3, 4] = True
    return Call(query, key, value, mask, True)


def attend_float32(rng):
    return Call(*(each.astype(np.float32) for each in inputs(rng, 2, 3)))


ASSIGNMENT = Assignment(
    title="The four steps of attention, forward",
    file="a1_four_steps.py",
    questions=(
        Question(
            "scores",
            (
                Test("values", 4, (score_pair,), public=True, about="queries and keys of one sequence"),
                Test("batch", 5, (score_batch, score_shared_keys), about="batch and head axes in front"),
                Test("shapes", 4, (score_square, score_single), about="as many queries as keys; a single query"),
                Test("float32", 2, (score_float32,), about="float32 inputs"),
            ),
        ),
        Question(
            "scale_scores",
            (
                Test("values", 4, (scale_small,), public=True, about="a small table"),
                Test("widths", 6, (scale_batch, scale_wide), about="other widths, batches"),
                Test("float32", 2, (scale_float32,), about="float32 inputs"),
            ),
        ),
        Question(
            "masked_softmax",
            (
                Test("rows", 3, (row_pair,), public=True, about="two rows, no mask"),
                Test("batch", 4, (row_batch, row_square, row_one_key), about="batches, square tables, one key"),
                Test("large", 4, (row_large, row_huge_beside_small), about="scores near 1000"),
                Test("negative", 4, (row_very_negative, row_far_apart), about="scores near -1000"),
                Test("mask_small", 3, (row_mask_small,), public=True, about="two rows, a boolean mask"),
                Test("mask", 5, (row_mask, row_mask_square, row_mask_all), about="masks of the table's shape"),
                Test("mask_broadcast", 4, (row_mask_shared, row_mask_padding, row_mask_keys), about="smaller masks"),
                Test("mask_extreme", 3, (row_masked_very_negative, row_masked_large), about="masks on extreme scores"),
                Test("empty_rows", 5, (row_empty, row_empty_batch, row_empty_all), about="queries that see no key"),
                Test("float32", 2, (row_float32, row_mask_float32), about="float32 inputs"),
            ),
        ),
        Question(
            "weighted_sum",
            (
                Test("values", 3, (sum_pair,), public=True, about="one sequence"),
                Test("batch", 5, (sum_batch, sum_shared_values), about="batch and head axes in front"),
                Test("square", 3, (sum_square,), about="as many keys as values are wide"),
                Test("float32", 2, (sum_float32,), about="float32 inputs"),
            ),
        ),
        Question(
            "attention",
            (
                Test("values", 3, (attend_small,), public=True, about="one sequence, no mask"),
                Test("batch", 4, (attend, attend_batch, attend_square), about="batches, square inputs"),
                Test("large", 2, (attend_large,), about="scores in the thousands"),
                Test("mask", 3, (attend_mask, attend_mask_square, attend_padding), about="a mask"),
                Test("empty_rows", 2, (attend_empty,), about="a query that sees no key"),
                Test("causal_small", 2, (attend_causal_small,), public=True, about="three tokens, causal"),
                Test("causal", 2, (attend_causal,), about="causal in batches"),
                Test(
                    "causal_lengths",
                    2,
                    (attend_causal_more_keys, attend_causal_more_queries),
                    about="causal with L and S different",
                ),
                Test(
                    "causal_mask", 2, (attend_causal_mask, attend_causal_mask_empty), about="causal and a mask together"
                ),
                Test("float32", 1, (attend_float32,), about="float32 inputs"),
            ),
            needs=("scores", "scale_scores", "masked_softmax", "weighted_sum"),
            trace=("scores", "scale_scores", "masked_softmax", "weighted_sum"),
        ),
    ),
)
