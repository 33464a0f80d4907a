"""The right line by other means: comparing numbers instead of a triangle."""

NUMBER = 1_001
LINE = 26
CORRECTED = "allowed = np.greater_equal.outer(np.arange(queries), np.arange(keys))"  # row >= column
