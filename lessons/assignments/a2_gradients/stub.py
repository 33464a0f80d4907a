"""Assignment a2: the gradients of the four steps, by hand. handout.md says what each function must do.

B batch, H heads, L queries, S keys, E key width, Ev value width. `grad` is the gradient that comes from above: it has
the shape of the step's output. What a function returns has the shapes of the step's inputs.

Complete the functions; keep their names and arguments. The forward steps may be imported from your file of
assignment a1: from a1_four_steps import scores, scale_scores, masked_softmax
"""

import numpy as np  # noqa: F401


def scores_backward(grad, query, key):
    """(..., L, S), (..., L, E), (..., S, E) -> (..., L, E), (..., S, E): the gradients of query and key."""
    raise NotImplementedError


def scale_backward(grad, d_k):
    """(..., L, S) -> (..., L, S): the gradient of the scores that were divided by sqrt(d_k)."""
    raise NotImplementedError


def softmax_backward(grad, weights):
    """(..., L, S), (..., L, S) -> (..., L, S): the gradient of the scores, from the weights that the softmax made."""
    raise NotImplementedError


def weighted_sum_backward(grad, weights, value):
    """(..., L, Ev), (..., L, S), (..., S, Ev) -> (..., L, S), (..., S, Ev): the gradients of weights and value."""
    raise NotImplementedError


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    """(..., L, Ev), (..., L, E), (..., S, E), (..., S, Ev) -> the gradients of query, key and value."""
    raise NotImplementedError
