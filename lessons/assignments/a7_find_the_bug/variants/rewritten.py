"""Another spelling of the right line, with an argument by position."""

LINE = 47
NUMBER = 2342
CORRECTED = "    scores /= np.sqrt(scores.dtype.type(query.shape[3]))"
