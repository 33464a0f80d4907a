"""The mask replaces the causal one; both have to hold."""

HINTS = {
    "question": "What if a key is allowed by the mask, but in the future?",
    "concept": "Two conditions that both have to hold are joined by and.",
    "place": "The line that joins the masks uses &.",
}
LOSES = ("repair.works",)


NUMBER = 6
LINE = 28
CORRECTED = "allowed = np.broadcast_to(mask, np.broadcast_shapes(np.shape(mask), allowed.shape))"
