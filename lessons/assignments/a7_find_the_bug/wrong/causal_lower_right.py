"""The causal mask is aligned with the lower right corner; here it counts from the upper left one."""

HINTS = {
    "question": "Which keys does query 0 see if there are more keys than queries?",
    "concept": "Causal means here that query i sees keys 0 to i.",
    "place": "The line of the causal mask has its diagonal at 0.",
}
LOSES = ("repair.works",)


NUMBER = 1
LINE = 26
CORRECTED = "allowed = np.tril(allowed, keys - queries)"
