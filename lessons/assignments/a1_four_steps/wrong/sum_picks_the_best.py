"""Each query gets the value of its largest weight alone."""

import numpy as np

HINTS = {
    "question": "What happens to the values with smaller weights?",
    "concept": "Every value counts by its weight; picking one is an argmax.",
    "place": "In weighted_sum, use weights @ value.",
}
LOSES = ("weighted_sum.*",)


def weighted_sum(weights, value):
    best = np.argmax(weights, axis=-1)[..., None]
    front = np.broadcast_shapes(weights.shape[:-2], value.shape[:-2])
    return np.take_along_axis(np.broadcast_to(value, front + value.shape[-2:]), best, axis=-2)
