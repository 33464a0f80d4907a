"""The mask is not passed on."""

HINTS = {
    "question": "Where does the mask of the caller go?",
    "concept": "An argument that is never used has no effect.",
    "place": "The call of allowed_keys needs the mask.",
}
LOSES = ("repair.works",)


NUMBER = 28
LINE = 48
CORRECTED = "allowed = allowed_keys(query.shape[-2], key.shape[-2], None, is_causal)"
