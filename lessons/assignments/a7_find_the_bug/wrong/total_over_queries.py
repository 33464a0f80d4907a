"""The sum runs over the queries; each query's weights over the keys have to sum to one."""

HINTS = {
    "question": "Along which axis do the weights sum to one?",
    "concept": "Rows are queries, and every row is a distribution over the keys.",
    "place": "The line of the total sums along the last axis.",
}
LOSES = ("repair.works",)


NUMBER = 23
LINE = 38
CORRECTED = "total = np.sum(weights, axis=-2, keepdims=True)"
