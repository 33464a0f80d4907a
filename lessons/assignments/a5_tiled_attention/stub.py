"""Assignment a5: attention in bounded memory. handout.md says what each function must do.

B batch, H heads, L queries, S keys, T keys of one block, E key width, Ev value width.

Complete the functions; keep their names and arguments.
"""

import numpy as np


def merge(
    peak_a: np.ndarray, total_a: np.ndarray, peak_b: np.ndarray, total_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(...,) each -> (...,), (...,): peak and total of two pieces of a row together."""
    raise NotImplementedError


def add_block(
    peak: np.ndarray, total: np.ndarray, output: np.ndarray, scores: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(..., L), (..., L), (..., L, Ev), (..., L, T), (..., T, Ev) -> the first three, with one more block of keys."""
    raise NotImplementedError


def tiled_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    mask: np.ndarray | None = None,
    is_causal: bool = False,
    block: int = 64,
) -> np.ndarray:
    """(..., L, E), (..., S, E), (..., S, Ev) -> (..., L, Ev): attention, with `block` keys at a time."""
    raise NotImplementedError
