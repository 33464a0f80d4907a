"""The scaled scores are float32 although the scores are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A result keeps the precision of its inputs.",
    "place": "In scale_scores, remove the conversion to float32.",
}
LOSES = ("scale_scores.values", "scale_scores.widths")


def scale_scores(scores, d_k):
    return (scores / np.sqrt(d_k)).astype(np.float32)
