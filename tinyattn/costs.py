"""What attention costs: operations, bytes and peak memory of each step, counted from shapes alone.

What is counted
    flops    one +, -, *, /, comparison or exp of one element is one operation; a product of matrices (n, k) and (k, m)
             takes 2 n k m. What is done once per row, selecting by a mask, copying and converting count as none.
    read     bytes of every array that the step takes from memory, each once, without what it makes and uses up itself.
    written  bytes of the arrays that the step leaves behind.
    live     bytes in memory at the step's worst moment: what all steps so far have left, the gradient that came in, the
             step's own results, and its scratch. Query, key, value and a mask that is given are the caller's and are
             not in. Arrays of one number per row are left out.

The explicit steps work on every pair of query and key. A kernel that skips what the mask forbids needs only
`kept_pairs` of `pairs`, and no table.
"""

import math
from dataclasses import dataclass

import numpy as np

from tinyattn.attention.masks import causal_offset, window_sides


@dataclass(frozen=True)
class StepCost:
    """Operations and bytes of one step; `live` is all that is in memory while it runs."""

    name: str
    flops: int
    read: int
    written: int
    live: int

    @property
    def intensity(self):
        """Operations per byte moved: a step below the machine's own ratio waits for memory, not for arithmetic."""
        return self.flops / (self.read + self.written)


@dataclass(frozen=True)
class Ledger:
    """The cost of attention, step by step in the order in which the steps run; print it for a table."""

    forward: tuple[StepCost, ...]
    backward: tuple[StepCost, ...]
    pairs: int  # query-key pairs in all heads
    kept_pairs: int  # those that the causal mask and the window let attend

    @property
    def flops(self):
        return sum(step.flops for step in self.forward + self.backward)

    @property
    def forward_flops(self):
        return sum(step.flops for step in self.forward)

    @property
    def moved(self):
        """Bytes read and written."""
        return sum(step.read + step.written for step in self.forward + self.backward)

    @property
    def forward_peak(self):
        return max(step.live for step in self.forward)

    @property
    def peak(self):
        """Bytes at the worst moment of forward and backward."""
        return max(step.live for step in self.forward + self.backward)

    def __str__(self):
        lines = [f"{'step':<24}{'operations':>11}{'read':>11}{'written':>11}{'live':>11}{'ops/byte':>10}"]
        for title, steps in ("forward", self.forward), ("backward", self.backward):
            lines.append(title)
            lines += [
                f"  {step.name:<22}{_short(step.flops, 1000):>11}{_short(step.read):>11}{_short(step.written):>11}"
                f"{_short(step.live):>11}{step.intensity:>10.2f}"
                for step in steps
            ]
        lines.append(
            f"{'sum, and peak':<24}{_short(self.flops, 1000):>11}{_short(self.moved):>22}{_short(self.peak):>11}"
        )
        lines.append(f"{self.kept_pairs:,} of {self.pairs:,} pairs may attend")
        return "\n".join(lines)


def attention_costs(
    query, key, value, *, dtype="float32", attn_mask=None, is_causal=False, window=None, align="upper-left",
    enable_gqa=False,
):  # fmt: skip
    """The Ledger of `attention_steps` and its backward, for shapes (..., L, E), (..., S, E), (..., S, Ev).

    attn_mask is the shape of a boolean mask of the caller's; dtype one of the floating-point types that attention
    takes; the other settings are attention's own. ValueError where the shapes do not fit.
    """
    query, key, value = (tuple(int(n) for n in shape) for shape in (query, key, value))
    item = np.dtype(dtype).itemsize
    if np.dtype(dtype).kind != "f" or item > 8:
        raise ValueError(f"costs are counted for float16, float32 and float64, got {dtype}")
    *batch, L, E, S, Ev = _sizes(query, key, value, enable_gqa)
    tables = math.prod(batch)
    pairs = tables * L * S
    q, k, v, output, table = (
        n * item for n in (tables * L * E, tables * S * E, tables * S * Ev, tables * L * Ev, pairs)
    )
    half = item == 2

    def widened(a, b, result):
        """Scratch of a matrix product in float16: both inputs, and the result once more, as float32."""
        return half * (2 * a + 2 * b + result)

    given_k, given_v = math.prod(key) * item, math.prod(value) * item
    repeats = enable_gqa and key[-3] != query[-3], enable_gqa and value[-3] != query[-3]

    forward = _Steps(kept=0)
    if any(repeats):
        made = repeats[0] * k + repeats[1] * v
        forward.add("repeat heads", 0, read=repeats[0] * given_k + repeats[1] * given_v, kept=made)
    forward.add("1 scores", 2 * pairs * E, read=q + k, kept=table, scratch=widened(q, k, table))
    forward.add("2 scale", pairs, read=table, kept=table)
    masks = [] if attn_mask is None else [(math.prod(attn_mask), 0, 0)]  # read, kept and scratch bytes
    masks += [(L * S, L * S, 0)] if is_causal else []
    if window is not None:  # its distances are int64, and gone before the causal mask is applied
        masks.append((L * S, L * S, max(0, 9 * L * S - (1 + is_causal) * table)))
    for read, kept, scratch in masks:
        forward.add("3 mask", 0, read=table + read, kept=table + kept, scratch=scratch)
    forward.add("3 softmax", 5 * pairs, read=table, kept=table, scratch=half * 4 * table)
    forward.add("4 weighted sum", 2 * pairs * Ev, read=table + v, kept=output, scratch=widened(table, v, output))

    backward = _Steps(kept=forward.kept, passed=output)
    backward.add(
        "4 weighted sum", 4 * pairs * Ev, read=output + v + table, kept=v, passed=table,
        scratch=widened(table, output, v),
    )  # fmt: skip
    backward.add("3 softmax", 4 * pairs, read=2 * table, passed=table, scratch=half * 5 * table)
    for read, _, _ in reversed(masks):
        backward.add("3 mask", 0, read=table + read, passed=table)
    backward.add("2 scale", pairs, read=table, passed=table)
    finite = q // item  # a byte for each number of the query says whether it is finite
    backward.add("1 scores", 4 * pairs * E, read=table + q + k, kept=q + k, scratch=widened(table, q, k) + finite)
    if any(repeats):
        group_sums = repeats[0] * (k - given_k) + repeats[1] * (v - given_v)
        backward.add("repeat heads", group_sums // item, read=made, kept=made - group_sums)

    offset = causal_offset(L, S, align)
    left, right = (None, None) if window is None else window_sides(window)
    kept = tables * kept_pairs(L, S, left, min(0, right or 0) if is_causal else right, offset)
    return Ledger(tuple(forward), tuple(backward), pairs, kept)


def kept_pairs(L, S, left, right, offset=0):
    """How many keys j with -left <= j - i - offset <= right the queries i have together; None is no limit."""
    diagonal = np.arange(L) + offset
    first = np.zeros(L, int) if left is None else np.maximum(diagonal - left, 0)
    last = np.full(L, S - 1) if right is None else np.minimum(diagonal + right, S - 1)
    return int(np.maximum(last - first + 1, 0).sum())


class _Steps(list):
    """StepCosts in running order, with the bytes that stay (`kept`) and that only the next step needs (`passed`)."""

    def __init__(self, kept, passed=0):
        self.kept, self.passed = kept, passed

    def add(self, name, flops, *, read, kept=0, passed=0, scratch=0):
        self.kept += kept
        self.append(StepCost(name, flops, read, kept + passed, self.kept + self.passed + passed + scratch))
        self.passed = passed


def _sizes(query, key, value, enable_gqa):
    """(*batch, L, E, S, Ev) with the query's number of heads, or ValueError."""
    fits = (
        min(map(len, (query, key, value))) >= (3 if enable_gqa else 2)
        and query[-1] == key[-1] > 0
        and key[-2] == value[-2]
    )
    batches = [shape[:-2] for shape in (query, key, value)]
    if fits and enable_gqa:
        fits = all(heads and query[-3] % heads == 0 for heads in (key[-3], value[-3]))
        batches[1:] = [(*batch[:-1], query[-3]) for batch in batches[1:]]
    if not fits or len(set(batches)) != 1:
        heads = "Hq" if enable_gqa else "H"
        raise ValueError(
            f"costs are counted for query (..., {heads}, L, E), key (..., H, S, E) and value (..., H, S, Ev) with "
            f"equal leading axes, got {query}, {key} and {value}"
        )
    return *batches[0], query[-2], query[-1], key[-2], value[-1]


def _short(number, base=1024):
    """1234567 as 1.235 M (base 1000) or 1.177 MiB (base 1024)."""
    units = " kMGTP" if base == 1000 else ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    power = min(int(math.log(max(number, 1), base)), 5)
    return f"{number / base**power:.4g} {units[power]}".rstrip()
