"""The loops that other tests compare with, held against themselves: forward by a matrix, backward by differences."""

import numpy as np
import pytest
from by_hand import attention_by_hand


def test_forward_is_a_matrix_of_exponentials_divided_by_row_sums(rng):
    q, k, v = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    keep = rng.random((3, 5)) < 0.7
    powers = np.exp(q @ k.T / 2) * keep
    expected = powers / powers.sum(1, keepdims=True)
    ours = attention_by_hand(q, k, v, keep=keep)
    np.testing.assert_allclose(ours.weights, expected, rtol=1e-12)
    np.testing.assert_allclose(ours.output, expected @ v, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["query", "key", "value", "bias"])
def test_backward_is_the_slope_of_forward(rng, name):
    shapes = {"query": (2, 1, 3, 4), "key": (3, 5, 4), "value": (2, 1, 5, 2), "bias": (3, 1, 5)}
    inputs = {n: rng.normal(size=shape) for n, shape in shapes.items()}
    keep, grad = rng.random((3, 3, 5)) < 0.7, rng.normal(size=(2, 3, 3, 2))
    keep[0, 1] = False
    direction = rng.normal(size=shapes[name])

    def loss(step):
        moved = inputs | {name: inputs[name] + step * direction}
        return (attention_by_hand(**moved, keep=keep, factor=0.3).output * grad).sum()

    slope = (loss(1e-5) - loss(-1e-5)) / 2e-5
    gradient = getattr(attention_by_hand(**inputs, keep=keep, factor=0.3, grad=grad), name)
    assert gradient.shape == shapes[name]
    np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=1e-8)
