"""A key is let in if either mask allows it; both have to."""

HINTS = {
    "question": "What if a key is allowed by the mask, but in the future?",
    "concept": "Two conditions that both have to hold are joined by and.",
    "place": "The line that joins the masks uses &.",
}
LOSES = ("repair.works",)


NUMBER = 6
LINE = 28
CORRECTED = "allowed = allowed | mask"
