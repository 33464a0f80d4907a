"""Program 5 divides by the number of keys instead of by the sum of the row."""

NUMBER = 5
LINE = 40
CORRECTED = "return weights / total"
