"""The weighted values are divided by the number of keys once more."""

HINTS = {
    "question": "What do the weights of a row add up to?",
    "concept": "The weights already sum to 1, so the sum is the average.",
    "place": "In weighted_sum, leave out the division.",
}
LOSES = ("weighted_sum.*",)


def weighted_sum(weights, value):
    return weights @ value / value.shape[-2]
