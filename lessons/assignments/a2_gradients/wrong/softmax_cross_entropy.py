"""weights - grad is the gradient of softmax and cross-entropy together, with grad as the target; here is no target."""

HINTS = {
    "question": "Which loss does the formula weights - target belong to?",
    "concept": "The softmax alone multiplies grad by its Jacobian.",
    "place": "In softmax_backward, use weights * (grad - sum(grad * weights)).",
}
LOSES = ("softmax_backward.*",)


def softmax_backward(grad, weights):
    return weights - grad
