"""is_causal is not used."""

# ruff: noqa: F821
HINTS = {
    "question": "What should change when is_causal is True?",
    "concept": "Causal: query i sees keys 0 to i.",
    "place": "In attention, build a lower triangle with np.tri and combine it with the mask.",
}
LOSES = ("attention.causal_small", "attention.causal", "attention.causal_lengths", "attention.causal_mask")


def attention(query, key, value, mask=None, is_causal=False):
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
