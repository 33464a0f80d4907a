"""Step 1: how well each query matches each key."""

from tinyattn.backend import shape_of
from tinyattn.ops import batch_of, matrix_product, selective_product
from tinyattn.tensor import op


@op
def scores(query, key):  # (..., L, E), (..., S, E) -> (..., L, S)
    """Dot products of every query with every key; leading axes broadcast.

    For entries with mean 0 and variance 1 a score has variance E (Vaswani et al., 2017, footnote 4).
    """
    check_scores(query, key)

    def d_query(grad):
        return selective_product(grad, key)

    def d_key(grad):
        return selective_product(grad.swapaxes(-1, -2), query)

    return matrix_product(query, key.swapaxes(-1, -2)), (d_query, d_key)


def check_scores(query, key):
    if len(shape_of(query)) < 2 or len(shape_of(key)) < 2:
        shapes = f"{shape_of(query)} and {shape_of(key)}"
        raise ValueError(f"scores needs query (..., L, E) and key (..., S, E), got {shapes}")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"scores needs query and key of one width E, got {query.shape} and {key.shape}")
    if query.shape[-1] == 0:
        raise ValueError(f"scores needs a width E of at least 1, got query {query.shape} and key {key.shape}")
    batch_of(query.shape[:-2], key.shape[:-2], "scores", query, key)
