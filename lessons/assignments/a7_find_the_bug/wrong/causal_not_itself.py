"""A query does not see its own key; causal includes it."""

HINTS = {
    "question": "Which keys does query 0 see?",
    "concept": "Causal means that query i sees keys 0 to i.",
    "place": "The line of the causal mask includes the diagonal.",
}
LOSES = ("repair.works",)


NUMBER = 1
LINE = 26
CORRECTED = "allowed = np.tril(allowed, -1)"
