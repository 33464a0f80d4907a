"""The result is float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "Moving numbers about needs no other precision.",
    "place": "In split_heads, remove the conversion to float32.",
}
LOSES = ("split_heads.small", "split_heads.values", "split_heads.batch", "split_heads.one_head")


def split_heads(x, num_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads), -3, -2).astype(np.float32)
