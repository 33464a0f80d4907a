"""Where the blocks of scores lie, against a table that is looked through entry by entry."""

import numpy as np
import pytest

from tinyattn.attention import blocks
from tinyattn.attention.blocks import band_of


@pytest.fixture(params=[1, 2, 3, 100])
def cut(request, monkeypatch):
    monkeypatch.setattr(blocks, "CUT", request.param)
    blocks._blocks.cache_clear()
    yield
    blocks._blocks.cache_clear()


@pytest.mark.parametrize("size", [(3, 5), (5, 3), (4, 4), (100, 100)], ids=str)
@pytest.mark.parametrize("offset", [0, 4, -6, 40, -40])
@pytest.mark.parametrize("window", [(None, None), (2, None), (1, 3), (0, 0)], ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
def test_every_score_inside_the_band_is_in_one_block(cut, is_causal, window, offset, size):
    L, S = 11, 14
    keys = slice(3, 13)
    band = band_of(is_causal, window, offset, L, S)
    distance = np.arange(S) - np.arange(L)[:, None]
    inside = (band[0] <= distance) & (distance <= band[1])
    if is_causal:
        assert not inside[distance > offset].any()
    times = np.zeros((L, S))
    for rows in blocks.split(slice(2, 10), size[0]):
        begun: set[int] = set()
        for block in blocks.blocks(rows, keys, band, size, np.dtype(float)):
            scores = block.of(np.ones(200))
            assert scores.size > 0
            assert scores.shape <= size
            assert block.here == blocks.within(block.rows, rows)
            assert block.there == blocks.within(block.keys, keys)
            for part, keep in block.hidden:
                scores[part] *= keep
            np.testing.assert_array_equal(scores, inside[block.rows, block.keys])
            times[block.rows, block.keys] += scores
            here = numbers(block.rows)
            assert numbers(slice(block.rows.start, block.rows.start + block.met)) == here & begun
            begun |= here
        if size[0] > size[1]:  # the others may have rows that see none of the keys
            assert begun == numbers(blocks.seeing(keys, rows, band))
    inside[:2] = inside[10:] = inside[:, :3] = inside[:, 13:] = False
    np.testing.assert_array_equal(times, inside)


@pytest.mark.parametrize("size", [(5, 3), (4, 4), (2, 1)], ids=str)
@pytest.mark.parametrize("offset", [0, 4, -6, 40, -40])
@pytest.mark.parametrize("window", [(None, None), (2, None), (1, 3), (0, 0)], ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
def test_what_of_the_keys_came_before_lies_before_the_last(cut, is_causal, window, offset, size):
    """So that a sum over the rows can be written where it begins, instead of added to zeros."""
    every, keys = slice(0, 11), slice(3, 13)
    band = band_of(is_causal, window, offset, 11, 14)
    begun: set[int] = set()
    for rows in blocks.split(blocks.seeing(keys, every, band), size[0]):
        for block in blocks.blocks(rows, keys, band, size, np.dtype(float)):
            met = blocks.before(max(begun, default=-1) + 1, block.keys)
            assert numbers(slice(block.keys.start, block.keys.start + met)) == numbers(block.keys) & begun
            begun |= numbers(block.keys)
    assert begun == numbers(blocks.seen(every, keys, band))


def numbers(part):
    return set(range(part.start, part.stop))


@pytest.mark.parametrize("others", [slice(0, 9), slice(2, 5)], ids=str)
def test_who_sees_whom(others):
    low, high = -2, 1
    for start in range(9):
        for stop in range(start + 1, 10):
            some = slice(start, stop)
            seen = {j for i in numbers(some) for j in numbers(others) if low <= j - i <= high}
            seeing = {i for j in numbers(some) for i in numbers(others) if low <= j - i <= high}
            for found, expected in (
                (blocks.seen(some, others, (low, high)), seen),
                (blocks.seeing(some, others, (low, high)), seeing),
            ):
                assert numbers(found) == expected
                assert others.start <= found.start <= found.stop <= others.stop  # also where it is empty
