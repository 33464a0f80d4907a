"""A query sees one key of the future."""

HINTS = {
    "question": "Which keys does query 0 see?",
    "concept": "Causal means that query i sees keys 0 to i.",
    "place": "The line of the causal mask ends at the diagonal.",
}
LOSES = ("repair.works",)


NUMBER = 1
LINE = 26
CORRECTED = "allowed = np.tri(queries, keys, 1, dtype=bool)"
