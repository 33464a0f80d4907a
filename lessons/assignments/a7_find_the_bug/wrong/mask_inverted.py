"""The mask is read the wrong way round: True means that a key may be seen."""

HINTS = {
    "question": "Which keys does True let in?",
    "concept": "A boolean mask selects.",
    "place": "The line that joins the masks takes the mask as it is.",
}
LOSES = ("repair.works",)


NUMBER = 22
LINE = 28
CORRECTED = "allowed = allowed & ~mask"
