"""Assignment a4: masks and heads. handout.md says what each function must do.

B batch, H heads, L queries, S keys, E key width, Ev value width (of one head).

Complete the functions; keep their names and arguments. You may use your first assignment, from a file beside this one:

    from a1_four_steps import attention
"""

import numpy as np


def causal_mask(L: int, S: int, align: str = "upper-left") -> np.ndarray:
    """(L, S), boolean: True where query i may attend to key j, which is not later than i."""
    raise NotImplementedError


def padding_mask(lengths: np.ndarray, S: int) -> np.ndarray:
    """(B,), a number -> (B, 1, 1, S), boolean: True at the first lengths[b] keys of sample b."""
    raise NotImplementedError


def split_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(..., L, H*E) -> (..., H, L, E): head h holds the columns h*E to (h+1)*E - 1 of every token."""
    raise NotImplementedError


def merge_heads(x: np.ndarray) -> np.ndarray:
    """(..., H, L, E) -> (..., L, H*E): undoes split_heads."""
    raise NotImplementedError


def share_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(..., Hkv, S, E) -> (..., H, S, E): each head serves H / Hkv query heads in a row."""
    raise NotImplementedError


def multi_head_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    num_heads: int,
    num_kv_heads: int | None = None,
    mask: np.ndarray | None = None,
    align: str | None = None,
) -> np.ndarray:
    """(..., L, H*E), (..., S, Hkv*E), (..., S, Hkv*Ev) -> (..., L, H*Ev): split, attend in every head, merge."""
    raise NotImplementedError
