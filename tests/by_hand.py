"""Attention and its gradients in plain loops over float64 numbers: slow, obvious, and independent of the engine.

    score[i, j]  = factor * q[i] . k[j] + bias[i, j]       only where keep[i, j]
    weight[i, j] = exp(score[i, j]) / sum over kept j      a row that keeps nothing has weights 0
    out[i]       = sum over j of weight[i, j] v[j]

and backward, from grad = d(loss)/d(out):

    dw[i, j] = grad[i] . v[j]
    ds[i, j] = weight[i, j] (dw[i, j] - sum over m of weight[i, m] dw[i, m])
    dq[i] = factor * sum over j of ds[i, j] k[j]           dk[j] = factor * sum over i of ds[i, j] q[i]
    dv[j] = sum over i of weight[i, j] grad[i]             dbias[i, j] = ds[i, j]
"""

import math
from types import SimpleNamespace

import numpy as np


def attention_by_hand(query, key, value, *, keep=None, bias=None, factor=None, grad=None):
    """output and weights, and with grad also the gradients query, key, value and bias; leading axes broadcast."""
    L, S = query.shape[-2], key.shape[-2]
    factor = 1 / math.sqrt(query.shape[-1]) if factor is None else factor
    keep = np.ones((L, S), bool) if keep is None else np.atleast_2d(keep)
    bias = np.zeros((L, S)) if bias is None else np.atleast_2d(bias)
    inputs = [*(np.asarray(x, np.float64) for x in (query, key, value, bias)), keep]
    gradients = [np.zeros(x.shape) for x in inputs[:4]]
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in inputs))
    output, weights = np.zeros((*lead, L, value.shape[-1])), np.zeros((*lead, L, S))
    for batch in np.ndindex(lead):
        q, k, v, extra, kept = (_table(x, batch) for x in inputs)
        dq, dk, dv, dextra = (_table(x, batch) for x in gradients)
        for i in range(L):
            seen = [j for j in range(S) if _cell(kept, i, j)]
            w = softmax_by_hand([factor * _dot(q[i], k[j]) + _cell(extra, i, j) for j in seen])
            weights[(*batch, i)][seen] = w
            for j, weight in zip(seen, w, strict=True):
                output[(*batch, i)] += weight * v[j]
            if grad is None:
                continue
            g = grad[(*batch, i)]
            dw = [_dot(g, v[j]) for j in seen]
            for j, weight, dweight in zip(seen, w, dw, strict=True):
                ds = weight * (dweight - _dot(w, dw))
                dq[i] += factor * ds * k[j]
                dk[j] += factor * ds * q[i]
                dv[j] += weight * g
                dextra[i % len(dextra), j % dextra.shape[1]] += ds
    dq, dk, dv, dbias = gradients
    return SimpleNamespace(output=output, weights=weights, query=dq, key=dk, value=dv, bias=dbias)


def softmax_by_hand(scores):
    """The weights of one row, as a list; all 0 where every score is -inf."""
    peak = max(scores, default=-math.inf)
    if peak == -math.inf:
        return [0.0] * len(scores)
    powers = [math.exp(score - peak) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def _dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _table(x, batch):
    """The last two axes of x at one place of the broadcast leading axes: a view, so that gradients add up in it."""
    lead = x.shape[:-2]
    return x[tuple(place if n > 1 else 0 for place, n in zip(batch[len(batch) - len(lead) :], lead, strict=True))]


def _cell(table, i, j):
    """Entry (i, j) of a mask that may have one row or one column for all."""
    return table[i % table.shape[0], j % table.shape[1]]
