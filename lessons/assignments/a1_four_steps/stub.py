"""Assignment a1: the four steps of attention. handout.md says what each function must do.

B batch, H heads, L queries, S keys, E key width, Ev value width.

Complete the functions; keep their names and arguments.
"""

import numpy as np


def scores(query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """(..., L, E), (..., S, E) -> (..., L, S): how well each query matches each key."""
    raise NotImplementedError


def scale_scores(scores: np.ndarray, d_k: int) -> np.ndarray:
    """(..., L, S) -> (..., L, S): scores whose spread does not grow with the key width d_k."""
    raise NotImplementedError


def masked_softmax(scores: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """(..., L, S) -> (..., L, S): each row to weights that are positive and sum to one over the keys it may see."""
    raise NotImplementedError


def weighted_sum(weights: np.ndarray, value: np.ndarray) -> np.ndarray:
    """(..., L, S), (..., S, Ev) -> (..., L, Ev): the average of the values, weighted for each query."""
    raise NotImplementedError


def attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray | None = None, is_causal: bool = False
) -> np.ndarray:
    """(..., L, E), (..., S, E), (..., S, Ev) -> (..., L, Ev): the four steps in a row."""
    raise NotImplementedError
