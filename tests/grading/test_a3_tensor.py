"""Assignment a3: the reference against the engine, and what its parts cost each other."""

import numpy as np
import pytest

from tinyattn import Tensor, matmul, scaled_dot_product_attention
from tinyattn.grading.assignment import load
from tinyattn.grading.grade import Grader


@pytest.fixture(scope="module")
def a3():
    return load("a3")


def question(a3, function):
    (found,) = [each for each in a3.questions if each.function == function]
    return found


def test_attention_of_the_reference_equals_the_engine(a3):
    for case in a3.cases(question(a3, "attention"), b"engine"):
        upstream, *arrays = case.call.args
        leaves = [Tensor(each, requires_grad=True) for each in arrays]
        inputs = leaves if len(leaves) == 3 else leaves * 3
        output = scaled_dot_product_attention(*inputs, attn_mask=case.call.kwargs.get("mask"))
        output.backward(upstream)
        expected, gradients = case.expected.value
        np.testing.assert_allclose(expected, output.numpy(), rtol=0, atol=1e-9)
        for ours, leaf in zip(gradients, leaves, strict=True):
            np.testing.assert_allclose(ours, leaf.grad, rtol=0, atol=1e-9)


def test_operations_of_the_reference_equal_the_engine(a3):
    engine = {
        "add": lambda a, b: a + b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
        "matmul": matmul,
        "exp": lambda a: a.exp(),
        "transpose": lambda a: a.swapaxes(-1, -2),
        "total": lambda a, **settings: a.sum(**settings),
    }
    seen = set()
    for function in ("operation", "broadcasting"):
        for case in a3.cases(question(a3, function), b"engine"):
            name, upstream, *arrays = case.call.args
            leaves = [Tensor(each, requires_grad=True) for each in arrays]
            output = engine[name](*leaves, **case.call.kwargs)
            output.backward(upstream)
            data, remembered, gradients = case.expected.value
            assert remembered == [True] * len(leaves)
            np.testing.assert_allclose(data, output.numpy(), rtol=0, atol=1e-12)
            for ours, leaf in zip(gradients, leaves, strict=True):
                np.testing.assert_allclose(ours, leaf.grad, rtol=0, atol=1e-11)
            seen.add(name)
    assert seen == set(engine)


def test_graphs_worked_out_by_hand(a3):
    """Two numbers: x = 2, y = 3, and 1 from above."""
    harness, space = a3.reference.harness, a3.reference.space
    one, x, y = np.ones(1), np.array([2.0]), np.array([3.0])
    for name, way, expected in (
        ("chain", "once", (-18, -12, 3)),
        ("square", "once", (4, None, 1)),
        ("doubled", "once", (4, None, 2)),
        ("diamond", "once", (25, 19, 5)),  # (x + y) + xy + (x + y) xy, with x and y as in ENG-02
        ("diamond", "without", (25, 19, 5)),
        ("diamond", "twice", (50, 38, 10)),
        ("ladder", "once", (4096, None, 12)),
        ("leaf", "twice", (2, None, 0)),
    ):
        result = harness.backward(space, name, way, one, x, y)
        found = [None if each is None else np.asarray(each).item() for each in result]
        assert found == list(expected), (name, way)
    assert harness.backward(space, "diamond", "without", one, np.ones(2), np.ones(2)) == "ValueError"


def test_a_missing_backward_costs_backward_and_attention_only(a3):
    source = a3.text("reference.py") + "\n\nTensor.backward = lambda self, grad=None: None\n"
    lost = {each.test.id.split(".")[0] for each in Grader(a3, source.encode()).grade() if each.status != "pass"}
    assert lost == {"backward", "attention"}


def test_functions_alone_score_without_backward(a3):
    """The stub with one function completed."""
    source = (
        a3.text("stub.py") + "\n\ndef exp(a):\n    e = np.exp(a.data)\n    return Tensor(e, (a,), lambda g: (g * e,))\n"
    )
    found = {each.test.id: each.status for each in Grader(a3, source.encode()).grade()}
    assert {id for id, status in found.items() if status != "not attempted"} == {"operation.exp"}
    assert found["operation.exp"] == "pass"
