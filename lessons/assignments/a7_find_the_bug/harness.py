"""Questions about a program with one line corrected, which the grader has made of what was handed in."""


def place(student):
    """Where the line is that was pointed at."""
    if student.PLACE is None:
        raise NotImplementedError
    return student.PLACE


def repair(student, *inputs, **options):
    """What the corrected program computes."""
    if student.PLACE is None:
        raise NotImplementedError
    return student.attention(*inputs, **options) if student.CHANGED else "the line as it was"
