"""The width is read off the gradient's last axis, which counts the keys."""

HINTS = {
    "question": "Which axis of grad is the key width?",
    "concept": "The table of scores has no axis for the key width; that is why d_k is an argument.",
    "place": "In scale_backward, use d_k.",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return grad / grad.shape[-1] ** 0.5
