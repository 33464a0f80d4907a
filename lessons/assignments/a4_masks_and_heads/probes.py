"""Assignment a4: masks and heads."""

import numpy as np

from tinyattn.grading.assignment import Assignment, Call, Question, Test, sizes

# causal_mask ----------------------------------------------------------------------------------------------------------


def causal_small(rng):
    return Call(3, 3)


def causal_square(rng):
    (n,) = sizes(rng, 1, 4, 15)
    return Call(n, n, "upper-left")


def ordered(rng, low=3, high=15):
    few, many = sorted(sizes(rng, 2, low, high))
    return few, many + 1  # two apart at least


def causal_more_keys(rng):
    few, many = ordered(rng)
    return Call(few, many)


def causal_more_queries(rng):
    few, many = ordered(rng)
    return Call(many, few, align="upper-left")


def lower_right_small(rng):
    return Call(2, 4, align="lower-right")


def lower_right_more_keys(rng):
    few, many = ordered(rng)
    return Call(few, many, "lower-right")


def lower_right_decoding(rng):
    (S,) = sizes(rng, 1, 4, 15)
    return Call(1, S, "lower-right")


def lower_right_square(rng):
    (n,) = sizes(rng, 1, 4, 15)
    return Call(n, n, align="lower-right")


def lower_right_more_queries(rng):
    few, many = ordered(rng)
    return Call(many, few, align="lower-right")


# padding_mask ---------------------------------------------------------------------------------------------------------


def padding_small(rng):
    return Call(np.array([3, 1]), 4)


def padding_batch(rng):
    B, S = sizes(rng, 2, 4, 12)
    lengths = rng.integers(1, S, B)
    lengths[:3] = rng.permutation([1, 2, S - 1])
    return Call(lengths, S)


def padding_square(rng):
    (n,) = sizes(rng, 1, 4, 9)
    return Call(1 + rng.permutation(n - 1)[np.arange(n) % (n - 1)], S=n)


def padding_full(rng):
    B, S = sizes(rng, 2, 4, 12)
    return Call(np.where(np.arange(B) == 1, S, rng.integers(1, S, B)), S)


def padding_empty(rng):
    B, S = sizes(rng, 2, 4, 12)
    return Call(np.where(np.arange(B) == 1, 0, rng.integers(1, S, B)), S)


# split_heads, merge_heads, share_heads --------------------------------------------------------------------------------


def split_small(rng):
    return Call(rng.normal(size=(3, 4)), 2)


def split_sequence(rng):
    H, L, E = sizes(rng, 3)
    return Call(rng.normal(size=(L, H * E)), H)


def split_batch(rng):
    A, B, H, L, E = sizes(rng, 5, 2, 8)
    return Call(rng.normal(size=(A, B, L, H * E)), num_heads=H)


def split_equal(rng):
    (n,) = sizes(rng, 1, 2, 5)
    return Call(rng.normal(size=(n, n, n * n)), n)


def split_one_head(rng):
    B, L, E = sizes(rng, 3)
    return Call(rng.normal(size=(B, L, E)), 1)


def split_float32(rng):
    B, H, L, E = sizes(rng, 4)
    return Call(rng.normal(size=(B, L, H * E)).astype(np.float32), H)


def merge_small(rng):
    return Call(rng.normal(size=(2, 3, 2)))


def merge_sequence(rng):
    return Call(rng.normal(size=sizes(rng, 3)))


def merge_batch(rng):
    return Call(rng.normal(size=sizes(rng, 5, 2, 8)))


def merge_equal(rng):
    (n,) = sizes(rng, 1, 2, 5)
    return Call(rng.normal(size=(n, n, n, n)))


def merge_one_head(rng):
    B, L, E = sizes(rng, 3)
    return Call(rng.normal(size=(B, 1, L, E)))


def merge_float32(rng):
    return Call(rng.normal(size=sizes(rng, 4)).astype(np.float32))


def share_small(rng):
    return Call(rng.normal(size=(2, 2, 2)), 4)


def share_groups(rng):
    S, E = sizes(rng, 2, 5, 12)
    return Call(rng.normal(size=(3, S, E)), 12)


def share_batch(rng):
    A, B, S, E = sizes(rng, 4, 5, 12)
    return Call(rng.normal(size=(A, B, 2, S, E)), num_heads=6)


def share_equal(rng):
    return Call(rng.normal(size=(3, 3, 3, 3)), 9)


def share_one(rng):
    B, S, E, H = sizes(rng, 4)
    return Call(rng.normal(size=(B, 1, S, E)), H)


def share_all(rng):
    B, S, E, H = sizes(rng, 4)
    return Call(rng.normal(size=(B, H, S, E)), H)


def share_float32(rng):
    B, S, E = sizes(rng, 3, 5, 12)
    return Call(rng.normal(size=(B, 2, S, E)).astype(np.float32), 8)


# multi_head_attention -------------------------------------------------------------------------------------------------


def tensors(rng, *front, H, L, S, E=None, Ev=None, Hkv=None):
    widths = sizes(rng, 2, 5, 9)  # never a number of heads or of tokens
    E, Ev = E or widths[0], Ev or widths[1]
    shapes = ((L, H * E), (S, (Hkv or H) * E), (S, (Hkv or H) * Ev))
    return [1.5 * rng.normal(size=(*front, *shape)) for shape in shapes]


def lengths(rng):
    """L < S, both different from every other size that is used with them."""
    few, many = sorted(sizes(rng, 2, 9, 15))
    return few, many + 1


def some_keys(rng, shape):
    """A boolean mask in which every query may attend to one key at least."""
    mask = rng.random(shape) < 0.5
    np.put_along_axis(mask, rng.integers(0, shape[-1], (*shape[:-1], 1)), True, axis=-1)
    return mask


def attend_small(rng):
    return Call(*tensors(rng, H=2, L=2, S=4, E=3, Ev=2), 2)


def attend_batch(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, L=L, S=S), 3)


def attend_fronts(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 3, 2, H=4, L=S, S=L), num_heads=4)


def attend_self(rng):
    x = rng.normal(size=(2, 6, 12))
    return Call(x, x.copy(), x.copy(), 3)


def attend_one_head(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=1, L=L, S=S), 1)


def attend_large(rng):
    L, S = lengths(rng)
    query, key, value = tensors(rng, 2, H=3, L=L, S=S, E=6, Ev=7)
    query[..., ::6] = np.where(np.arange(L) % 2, 900, -900)[:, None]  # moves the scores of a row all alike
    key[..., ::6] = 3
    return Call(query, key, value, 3)


def attend_padding(rng):
    L, S = lengths(rng)
    mask = (np.arange(S) < np.array([2, S - 1, 4])[:, None])[:, None, None, :]
    return Call(*tensors(rng, 3, H=2, L=L, S=S), 2, mask=mask)


def attend_table(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, L=L, S=S), 3, mask=some_keys(rng, (L, S)))


def attend_mask_of_heads(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, L=L, S=S), 3, None, some_keys(rng, (2, 3, L, S)))


def attend_empty(rng):
    L, S = lengths(rng)
    mask = some_keys(rng, (2, 1, L, S))
    mask[0, 0, 1] = mask[1, 0, -1] = False
    return Call(*tensors(rng, 2, H=3, L=L, S=S), 3, mask=mask)


def attend_empty_sample(rng):
    L, S = lengths(rng)
    mask = (np.arange(S) < np.array([S, 0, 3])[:, None])[:, None, None, :]
    return Call(*tensors(rng, 3, H=2, L=L, S=S), 2, mask=mask)


def attend_empty_corner(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 3, H=2, L=S, S=L), 2, align="lower-right")


def causal_upper_left(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, L=L, S=S), 3, align="upper-left")


def causal_upper_left_more_queries(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, L=S, S=L), 3, align="upper-left")


def causal_lower_right(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, L=L, S=S), 3, align="lower-right")


def causal_step(rng):
    _, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, L=1, S=S), 3, None, None, "lower-right")


def causal_mask_upper_left(rng):
    L, S = lengths(rng)
    mask = some_keys(rng, (3, 1, L, S))
    mask[..., 0] = mask[..., -1] = True  # a key of the past and one of the future
    return Call(*tensors(rng, 3, H=2, L=L, S=S), 2, mask=mask, align="upper-left")


def causal_mask_lower_right(rng):
    L, S = lengths(rng)
    mask = (np.arange(S) < np.array([2, S - 1, 4])[:, None])[:, None, None, :]
    return Call(*tensors(rng, 3, H=2, L=L, S=S), 2, mask=mask, align="lower-right")


def grouped(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 3, H=4, Hkv=2, L=L, S=S), 4, 2)


def grouped_thirds(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, H=12, Hkv=3, L=S, S=L), 12, num_kv_heads=3)


def grouped_one(rng):
    L, S = lengths(rng)
    return Call(*tensors(rng, 2, H=3, Hkv=1, L=L, S=S), 3, num_kv_heads=1)


def grouped_masked(rng):
    L, S = lengths(rng)
    mask = (np.arange(S) < np.array([2, S - 1, 4])[:, None])[:, None, None, :]
    return Call(*tensors(rng, 3, H=4, Hkv=2, L=L, S=S), 4, num_kv_heads=2, mask=mask, align="lower-right")


def attend_float32(rng):
    L, S = lengths(rng)
    inputs = [x.astype(np.float32) for x in tensors(rng, 2, H=4, Hkv=2, L=L, S=S)]
    return Call(*inputs, 4, num_kv_heads=2, align="lower-right")


ASSIGNMENT = Assignment(
    title="Masks and heads",
    file="a4_masks_and_heads.py",
    builds_on=("a1",),
    questions=(
        Question(
            "causal_mask",
            (
                Test("small", 2, (causal_small,), public=True, about="three tokens"),
                Test("square", 2, (causal_square,), about="as many queries as keys"),
                Test("upper_left", 3, (causal_more_keys, causal_more_queries), about="upper left, L and S different"),
                Test("lower_right_small", 2, (lower_right_small,), public=True, about="two queries, four keys"),
                Test(
                    "lower_right",
                    3,
                    (lower_right_more_keys, lower_right_decoding, lower_right_square),
                    about="lower right, not more queries than keys",
                ),
                Test("lower_right_empty", 3, (lower_right_more_queries,), about="lower right, more queries than keys"),
            ),
        ),
        Question(
            "padding_mask",
            (
                Test("small", 2, (padding_small,), public=True, about="lengths 3 and 1 of 4"),
                Test("batch", 4, (padding_batch, padding_square), about="a batch of lengths"),
                Test("full", 2, (padding_full,), about="a sample that fills all keys"),
                Test("empty", 3, (padding_empty,), about="a sample with no key"),
            ),
        ),
        Question(
            "split_heads",
            (
                Test("small", 2, (split_small,), public=True, about="three tokens, two heads of width two"),
                Test("values", 5, (split_sequence, split_equal), about="other sizes, and all sizes equal"),
                Test("batch", 4, (split_batch,), about="two axes in front"),
                Test("one_head", 1, (split_one_head,), about="a single head"),
                Test("float32", 1, (split_float32,), about="float32 inputs"),
            ),
        ),
        Question(
            "merge_heads",
            (
                Test("small", 2, (merge_small,), public=True, about="two heads, three tokens, width two"),
                Test("values", 5, (merge_sequence, merge_equal), about="other sizes, and all sizes equal"),
                Test("batch", 4, (merge_batch,), about="two axes in front"),
                Test("one_head", 1, (merge_one_head,), about="a single head"),
                Test("float32", 1, (merge_float32,), about="float32 inputs"),
            ),
        ),
        Question(
            "share_heads",
            (
                Test("small", 2, (share_small,), public=True, about="two heads for four"),
                Test("groups", 4, (share_groups, share_equal), about="three heads for more"),
                Test("batch", 3, (share_batch,), about="two axes in front"),
                Test("one", 2, (share_one,), about="one head for all"),
                Test("all", 1, (share_all,), about="as many as are asked for"),
                Test("float32", 1, (share_float32,), about="float32 inputs"),
            ),
        ),
        Question(
            "multi_head_attention",
            (
                Test("small", 2, (attend_small,), public=True, about="two heads, no mask"),
                Test("batch", 3, (attend_batch, attend_fronts, attend_self), about="axes in front, and self-attention"),
                Test("one_head", 1, (attend_one_head,), about="a single head"),
                Test("large", 2, (attend_large,), about="scores in the thousands"),
                Test("padding", 3, (attend_padding,), about="a mask for each sample"),
                Test("mask", 3, (attend_table, attend_mask_of_heads), about="a mask for all, and one for each head"),
                Test("empty_rows", 3, (attend_empty, attend_empty_sample), about="queries that see no key"),
                Test("upper_left", 3, (causal_upper_left, causal_upper_left_more_queries), about="causal, upper left"),
                Test("lower_right", 3, (causal_lower_right, causal_step), about="causal, lower right"),
                Test("lower_right_empty", 2, (attend_empty_corner,), about="lower right, more queries than keys"),
                Test(
                    "causal_mask",
                    3,
                    (causal_mask_upper_left, causal_mask_lower_right),
                    about="causal and a mask together",
                ),
                Test("grouped", 3, (grouped, grouped_thirds, grouped_one), about="fewer heads of keys and values"),
                Test("grouped_masked", 3, (grouped_masked,), about="the same with masks"),
                Test("float32", 1, (attend_float32,), about="float32 inputs"),
            ),
            needs=("causal_mask", "padding_mask", "split_heads", "merge_heads", "share_heads"),
            trace=("causal_mask", "split_heads", "share_heads", "merge_heads"),
        ),
    ),
)
