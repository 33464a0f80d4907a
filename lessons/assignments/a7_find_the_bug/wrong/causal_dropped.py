"""is_causal is not passed on."""

HINTS = {
    "question": "Where does is_causal of the caller go?",
    "concept": "An argument that is never used has no effect.",
    "place": "The call of allowed_keys needs is_causal.",
}
LOSES = ("repair.works",)


NUMBER = 10
LINE = 48
CORRECTED = "allowed = allowed_keys(query.shape[-2], key.shape[-2], mask, False)"
