"""The width is cut the wrong way: neighbouring numbers go to different heads, and the axes change roles."""

HINTS = {
    "question": "Which numbers of a token go to head 0?",
    "concept": "Head 0 gets the first width // heads numbers.",
    "place": "The first line of split_heads puts the heads before their width.",
}
LOSES = ("repair.works",)


NUMBER = 31
LINE = 11
CORRECTED = "parts = x.reshape(batch, length, width // heads, heads)"
