"""Step 4: each query's output is the average of the values under its weights."""

from tinyattn.backend import shape_of
from tinyattn.ops import batch_of, matrix_product
from tinyattn.tensor import op


@op
def weighted_sum(weights, value):  # (..., L, S), (..., S, Ev) -> (..., L, Ev)
    """weights times value: with weights that are positive and sum to one, a point inside the values' convex hull."""
    check_weighted_sum(weights, value)

    def d_weights(grad):
        return matrix_product(grad, value.swapaxes(-1, -2))

    def d_value(grad):
        return matrix_product(weights.swapaxes(-1, -2), grad)

    return matrix_product(weights, value), (d_weights, d_value)


def check_weighted_sum(weights, value):
    if len(shape_of(weights)) < 2 or len(shape_of(value)) < 2:
        shapes = f"{shape_of(weights)} and {shape_of(value)}"
        raise ValueError(f"weighted_sum needs weights (..., L, S) and value (..., S, Ev), got {shapes}")
    if weights.shape[-1] != value.shape[-2]:
        raise ValueError(
            f"weighted_sum needs one weight for each value, got weights {weights.shape} and value {value.shape}"
        )
    batch_of(weights.shape[:-2], value.shape[:-2], "weighted_sum", weights, value)
