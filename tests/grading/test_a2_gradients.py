"""Assignment a2: the reference against the engine, and gradients that are measured instead of derived."""

import numpy as np
import pytest

from tinyattn import Tensor, masks, scaled_dot_product_attention
from tinyattn.grading.assignment import load
from tinyattn.grading.grade import Grader

IMPORTS = "import numpy as np\nfrom a1_four_steps import *\n"
CENTRAL = """
def measured(function, grad, x):
    result = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        up, down = np.array(x), np.array(x)
        up[at] += 1e-6
        down[at] -= 1e-6
        result[at] = np.sum(grad * (function(up) - function(down))) / 2e-6
    return result
"""
ONE_SIDED = """
def measured(function, grad, x):
    start, result = function(x), np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        up = x.copy()
        up[at] += 1e-9
        result[at] = np.sum(grad * (function(up) - start)) / 1e-9
    return result
"""
COMPLEX = """
def measured(function, grad, x):
    result = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        moved = x.astype(complex)
        moved[at] += 1e-30j
        result[at] = np.sum(grad * function(moved).imag) / 1e-30
    return result
"""
GIVEN = """
def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    return (
        measured(lambda x: attention(x, key, value, mask, is_causal), grad, query),
        measured(lambda x: attention(query, x, value, mask, is_causal), grad, key),
        measured(lambda x: attention(query, key, x, mask, is_causal), grad, value),
    )
"""
OWN = """
def forward(query, key, value, mask, is_causal):
    table = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5
    allowed = np.ones(table.shape, bool) if mask is None else np.broadcast_to(mask, table.shape)
    if is_causal:
        allowed = np.tril(allowed)
    terms = np.exp(table - np.max(table.real, axis=-1, keepdims=True)) * allowed
    total = terms.sum(axis=-1, keepdims=True)
    return terms / np.where(total == 0, 1, total) @ value


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    return (
        measured(lambda x: forward(x, key, value, mask, is_causal), grad, query),
        measured(lambda x: forward(query, x, value, mask, is_causal), grad, key),
        measured(lambda x: forward(query, key, x, mask, is_causal), grad, value),
    )
"""
SOFTMAX = """
def softmax(x):
    terms = np.exp(x)
    return terms / terms.sum(axis=-1, keepdims=True)


def softmax_backward(grad, weights):
    return measured(softmax, grad, np.log(weights + 1e-300))
"""
SCORES = """
def scores_backward(grad, query, key):
    return (
        measured(lambda x: x @ key.swapaxes(-1, -2), grad, query),
        measured(lambda x: query @ x.swapaxes(-1, -2), grad, key),
    )
"""
SUM = """
def weighted_sum_backward(grad, weights, value):
    return measured(lambda x: x @ value, grad, weights), measured(lambda x: weights @ x, grad, value)
"""


@pytest.fixture(scope="module")
def a2():
    return load("a2")


def test_the_reference_equals_the_engine(a2):
    (question,) = [each for each in a2.questions if each.function == "attention_backward"]
    for case in a2.cases(question, b"engine"):
        grad, *arrays = case.call.args[:4]
        mask = case.call.args[4] if len(case.call.args) > 4 else case.call.kwargs.get("mask")
        causal = len(case.call.args) > 5 or case.call.kwargs.get("is_causal", False)
        if causal:
            triangle = masks.causal_mask(arrays[0].shape[-2], arrays[1].shape[-2])
            mask = triangle if mask is None else mask & triangle
        inputs = [Tensor(each, requires_grad=True) for each in arrays]
        scaled_dot_product_attention(*inputs, attn_mask=mask).backward(grad)
        for ours, each in zip(case.expected.value, inputs, strict=True):
            tolerance = 2e-5 if grad.itemsize == 4 else 1e-9
            scale = np.abs(each.grad).max()
            np.testing.assert_allclose(ours / scale, each.grad / scale, rtol=0, atol=tolerance)


def lost(a2, source, function):
    found = [each for each in Grader(a2, source.encode()).grade() if each.test.id.startswith(f"{function}.")]
    return {each.test.name: each.status for each in found if each.status != "pass"}, found


@pytest.mark.parametrize(
    ("method", "body", "function"),
    [
        pytest.param(CENTRAL, GIVEN, "attention_backward", id="central, given forward"),
        pytest.param(ONE_SIDED, GIVEN, "attention_backward", id="one-sided, given forward"),
        pytest.param(ONE_SIDED, OWN, "attention_backward", id="one-sided, own forward"),
        pytest.param(COMPLEX, OWN, "attention_backward", id="complex, own forward"),
        pytest.param(CENTRAL, SOFTMAX, "softmax_backward", id="central, softmax"),
        pytest.param(COMPLEX, SOFTMAX, "softmax_backward", id="complex, softmax"),
    ],
)
def test_measured_gradients_score_nothing(a2, method, body, function):
    failed, found = lost(a2, IMPORTS + method + body, function)
    assert len(failed) == len(found)
    assert "numerical gradient" in failed.values()
    assert {each.misconception for each in found} == {
        "The gradient is measured by moving each input a little and looking; it has to be derived."
    }


@pytest.mark.parametrize(
    ("body", "function"), [(SCORES, "scores_backward"), (SUM, "weighted_sum_backward")], ids=["scores", "sum"]
)
def test_measured_gradients_of_products_lose_what_huge_numbers_show(a2, body, function):
    """A product can be measured without any function that is counted; then the lost digits give it away."""
    for method in (CENTRAL, ONE_SIDED):
        failed, _ = lost(a2, IMPORTS + method + body, function)
        assert {"batch", "shared", "float32"} <= set(failed)
    failed, found = lost(a2, IMPORTS + COMPLEX + body, function)
    assert set(failed.values()) == {"numerical gradient"}
    assert len(failed) == len(found)
