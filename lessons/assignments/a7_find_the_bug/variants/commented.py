"""What else stands in the file does not matter; the last of several values counts."""

print("this is never run", undefined_name)  # noqa: F821
NUMBER = 999
LINE = 1
LINE = 37
CORRECTED = 'weights = np.exp(np.subtract(scores, peak))  # it was "peak - scores"'
