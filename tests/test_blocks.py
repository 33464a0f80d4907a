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
    times, order = np.zeros((L, S)), "C" if size[0] > size[1] else "F"
    for rows in blocks.split(slice(2, 10), size[0]):
        begun: set[int] = set()
        for block in blocks.blocks(rows, keys, band, size, order, np.dtype(float)):
            scores = block.of(np.ones(200))
            assert scores.size > 0
            assert scores.shape <= size
            assert scores.flags.c_contiguous if order == "C" else scores.flags.f_contiguous
            assert block.here == blocks.within(block.rows, rows)
            assert block.there == blocks.within(block.keys, keys)
            for part, keep in block.hidden:
                scores[part] *= keep
            np.testing.assert_array_equal(scores, inside[block.rows, block.keys])
            times[block.rows, block.keys] += scores
            here = set(range(block.rows.start, block.rows.stop))
            assert block.first <= (not here & begun)
            assert block.first or begun
            begun |= here
    inside[:2] = inside[10:] = inside[:, :3] = inside[:, 13:] = False
    np.testing.assert_array_equal(times, inside)


def test_who_sees_whom():
    band = (-2, 1)
    for start in range(6):
        for stop in range(start + 1, 8):
            seen = {j for i in range(start, stop) for j in range(9) if band[0] <= j - i <= band[1]}
            found = blocks.seen(slice(start, stop), slice(0, 9), band)
            assert set(range(found.start, found.stop)) == seen
            seeing = {i for j in range(start, stop) for i in range(9) if band[0] <= j - i <= band[1]}
            found = blocks.seeing(slice(start, stop), slice(0, 9), band)
            assert set(range(found.start, found.stop)) == seeing
