"""Every query gets the plain mean of the values; the weights are not used."""

import numpy as np

HINTS = {
    "question": "Do two queries with different weights get different outputs?",
    "concept": "The weights say how much each value counts.",
    "place": "In weighted_sum, use weights @ value.",
}
LOSES = ("weighted_sum.*",)


def weighted_sum(weights, value):
    mean = np.mean(value, axis=-2, keepdims=True)
    return np.broadcast_to(mean, (*weights.shape[:-1], value.shape[-1])).copy()
