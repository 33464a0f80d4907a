"""Your program for assignment a7: python suspect.py NUMBER prints attention with one line that is wrong.

Each line that matters has several spellings; most of them are right. A program takes one spelling of each.
"""

import sys

SPELLINGS = {
    "split": (
        "parts = np.reshape(x, (batch, length, heads, -1))",
        "parts = x.reshape(batch, length, heads, width // heads)",
        "parts = x.reshape(batch, length, width // heads, heads)",
        "parts = np.reshape(x, (length, batch, heads, -1)).swapaxes(0, 1)",
    ),
    "turn": (
        "return parts.transpose(0, 2, 1, 3)",
        "return np.reshape(parts, (batch, heads, length, width // heads))",
        "return np.swapaxes(parts, 1, 2)",
        "return parts.reshape(batch, heads, length, -1)",
    ),
    "together": (
        "together = np.swapaxes(x, 1, 2)",
        "together = np.moveaxis(x, 1, 2)",
        "together = x",
        "together = np.swapaxes(x, 2, 3)",
    ),
    "merge": (
        "return together.reshape(batch, length, heads * width)",
        "return np.reshape(together, (batch, length, -1))",
    ),
    "causal": (
        "allowed = np.tri(queries, keys, 1, dtype=bool)",
        "allowed = np.tri(queries, keys, dtype=bool)",
        "allowed = np.tril(allowed, -1)",
        "allowed = np.tril(allowed)",
        "allowed = np.tril(allowed, keys - queries)",
        "allowed = np.triu(allowed)",
        "allowed = np.arange(keys) <= np.arange(queries)[:, None]",
        "allowed = np.arange(keys) < np.arange(queries)[:, None]",
    ),
    "combine": (
        "allowed = np.logical_and(allowed, mask)",
        "allowed = allowed & mask",
        "allowed = np.broadcast_to(mask, np.broadcast_shapes(np.shape(mask), allowed.shape))",
        "allowed = allowed & ~mask",
        "allowed = allowed | mask",
    ),
    "fill": (
        "scores = np.where(allowed, scores, 0)",
        "scores = np.where(allowed, scores, np.finfo(float).tiny)",
        "scores = np.where(allowed, scores, np.inf)",
        "scores = scores + allowed",
        "scores = np.where(np.logical_not(allowed), -np.inf, scores)",
        "scores = np.where(allowed, scores, -np.inf)",
    ),
    "peak": (
        "peak = np.max(scores, axis=-1, keepdims=True)",
        "peak = scores.max(axis=-1, keepdims=True)",
        "peak = np.maximum(0, scores.max(axis=-1, keepdims=True))",
        "peak = np.max(scores)",
        "peak = np.max(scores, axis=-2, keepdims=True)",
    ),
    "finite": (
        "peak = np.where(np.isneginf(peak), peak, 0)",
        "peak = np.where(np.isposinf(peak), 0, peak)",
        "peak = np.where(np.isneginf(peak), 0, peak)",
        "peak = np.where(np.isfinite(peak), peak, 0)",
    ),
    "exp": (
        "weights = np.exp(peak - scores)",
        "weights = np.exp(scores)",
        "weights = np.exp(scores - peak)",
        "weights = np.exp2(scores - peak)",
    ),
    "total": (
        "total = weights.max(axis=-1, keepdims=True)",
        "total = np.sum(weights, axis=-1, keepdims=True)",
        "total = weights.sum(axis=-1, keepdims=True)",
        "total = np.sum(weights)",
        "total = np.sum(weights, axis=-2, keepdims=True)",
    ),
    "guard": (
        "total = np.where(total == 0, 1, total)",
        "total = total + (total == 0)",
        "total = np.where(total == 0, total, 1)",
        "total = np.where(total > 1, 1, total)",
    ),
    "divide": (
        "return np.divide(weights, total)",
        "return weights / weights.shape[-1]",
        "return weights / (total + 1e-3)",
        "return weights / total",
    ),
    "scores": (
        "scores = query @ np.swapaxes(key, -1, -2)",
        "scores = np.abs(query @ np.swapaxes(key, -1, -2))",
        "scores = query @ key.reshape(key.shape[:-2] + (key.shape[-1], key.shape[-2]))",
        'scores = np.einsum("bhle,bhse->bhls", query, key)',
        'scores = np.einsum("bhle,bhse->bhs", query, key)[:, :, None]',
    ),
    "scale": (
        "scores = scores / np.sqrt(key.shape[-1])",
        "scores = scores / np.sqrt(query.shape[1])",
        "scores = scores / math.sqrt(query.shape[-1])",
        "scores = scores * math.sqrt(query.shape[-1])",
        "scores = scores / math.sqrt(value.shape[-1])",
        "scores = scores * query.shape[-1] ** -0.5",
        "scores = scores / query.shape[-1]",
        "scores = scores / math.sqrt(heads * query.shape[-1])",
        "scores = scores / math.sqrt(key.shape[-2])",
    ),
    "allowed": (
        "allowed = allowed_keys(query.shape[-2], key.shape[-2], mask, False)",
        "allowed = allowed_keys(*scores.shape[-2:], mask, mask is None and is_causal)",
        "allowed = allowed_keys(*scores.shape[-2:], mask, is_causal)",
        "allowed = allowed_keys(query.shape[-2], key.shape[-2], None, is_causal)",
        "allowed = allowed_keys(query.shape[-2], key.shape[-2], mask, is_causal)",
    ),
    "weights": (
        "weights = softmax(scores, True) * allowed",
        "weights = softmax(scores, np.logical_not(allowed))",
        "weights = softmax(softmax(scores, allowed), allowed)",
        "weights = softmax(scores, allowed)",
    ),
    "output": (
        'output = np.einsum("bhls,bhsv->bhlv", weights, value)',
        "output = weights @ np.sort(value, axis=-2)",
        "output = weights @ value",
        "output = (weights > 1 / key.shape[-2]) @ value",
    ),
}

# Which spelling of each line, in the order above.
PROGRAMS = """
    100131513210003430 120071413221002432 001151513220032432 103030402221330430 001010512221036232
    101131512220102230 101133413211005232 020161402320030230 021011532211000430 120131513221031432
    000110512210300332 201111502210032230 001160302221302230 000060503221035210 020110502211345232
    000031402211025432 101110510220302432 001140402211035432 000111512240330232 000160513210307430
    021120513220335232 020131423221035232 120034402221032430 000010502200305232 120011503230302432
    101010502221235430 001110403221005422 031160513210332232 001160512221032130 120110002221305432
    101011442220005230 320061412221030430 000131413212032432 001001413221335230 101131403210302231
    001111402021330232 000030502221338430 010030403210335432 001110413223332432 020010413210305433
    001030412221335400 121061413111000432 121131502221004230 001110213221300230 021131112211305230
    100030512210010432 021062412211002230 120011412210335032 102030412220032232 120111401221305432
    301031403221032232 031160403211032430 100160402210032332 000110412210042232 120011503220005233
    121060503211031430 101061413221002132 021121512211302432 001060500210035432 001160502210302402
    120034402210300432 100160442220000230 020011513211336430 021130413240305432 100101512211030430
    000131412211010230 021011502220333232 220061513210005430 120011402211337432 021130203220332232
    121010513210304432 101161512220335422 100060303221300430 020111402211335231 021060402211322230
    101033413220032230 101161402111330430 001051402221035232 021171413220032432 023131512221302432
    101162502220302432 001060402220002210 010010413220335230 022060412210030430 021140502211335232
    001010432210035230 020010412220230230 020131502223000432 101130413321005432 000030411220005232
    101060512221132230 101161512221038230 121011523211005430 101130012220300232 101111102210332432
    121011402201302430 021010413210335032 121011503222302230 100030512230002232 000161502021330230
""".split()  # noqa: SIM905

TEMPLATE = '''"""Attention with several heads. B batch, H heads, L queries, S keys, E key width, Ev value width."""

import math

import numpy as np


def split_heads(x, heads):
    """(B, L, H*E) -> (B, H, L, E): the width is cut into heads, each a table of its own."""
    batch, length, width = x.shape
    {split}
    {turn}


def merge_heads(x):
    """(B, H, L, Ev) -> (B, L, H*Ev): the heads of a token beside each other again."""
    batch, heads, length, width = x.shape
    {together}
    {merge}


def allowed_keys(queries, keys, mask, is_causal):
    """True where a query may attend to a key: (L, S), or with the mask's axes in front."""
    allowed = np.ones((queries, keys), dtype=bool)
    if is_causal:
        {causal}
    if mask is not None:
        {combine}
    return allowed


def softmax(scores, allowed):
    """Each row to weights over the keys that are allowed; zeros if there are none."""
    {fill}
    {peak}
    {finite}
    {exp}
    {total}
    {guard}
    {divide}


def attention(query, key, value, heads, mask=None, is_causal=False):
    """(B, L, H*E), (B, S, H*E), (B, S, H*Ev) -> (B, L, H*Ev): each head attends for itself."""
    query, key, value = (split_heads(x, heads) for x in (query, key, value))
    {scores}
    {scale}
    {allowed}
    {weights}
    {output}
    return merge_heads(output)
'''


def choices(number):
    """For each line that matters, which of its spellings stands in the program of this number."""
    return dict(zip(SPELLINGS, map(int, PROGRAMS[number % len(PROGRAMS)]), strict=True))


def program(number):
    """The text of a program."""
    return TEMPLATE.format(**{name: SPELLINGS[name][choice] for name, choice in choices(number).items()})


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        sys.exit("python suspect.py NUMBER, where NUMBER is your student number")
    print(program(int(sys.argv[1])), end="")
