"""The scale is taken from all heads together; each head's dot products have the width of a head."""

HINTS = {
    "question": "How many terms has a dot product inside one head?",
    "concept": "After the split, every head attends for itself, with its own width.",
    "place": "The line of the scale uses the width of one head.",
}
LOSES = ("repair.works",)


NUMBER = 0
LINE = 47
CORRECTED = "scores = scores / math.sqrt(heads * query.shape[-1])"
