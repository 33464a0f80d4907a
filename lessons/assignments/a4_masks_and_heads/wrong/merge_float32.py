"""The result is float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "Moving numbers about needs no other precision.",
    "place": "In merge_heads, remove the conversion to float32.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch", "merge_heads.one_head")


def merge_heads(x):
    tokens = np.swapaxes(x, -3, -2).astype(np.float32)
    return tokens.reshape(*tokens.shape[:-2], -1)
