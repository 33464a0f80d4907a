"""The gradient keeps the shape of the result: an input that was repeated gets a gradient for every copy."""

HINTS = {
    "question": "Which shape has the input, and which one your gradient?",
    "concept": "Broadcasting uses one number many times; gradients of several uses add up.",
    "place": "In sum_to_shape, sum over the axes along which the input was repeated.",
}
LOSES = (
    "sum_to_shape.values",
    "sum_to_shape.leading",
    "sum_to_shape.stretched",
    "sum_to_shape.both",
    "sum_to_shape.scalar",
)


def sum_to_shape(grad, shape):
    return grad * 1
