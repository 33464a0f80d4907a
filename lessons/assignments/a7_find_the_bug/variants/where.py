"""np.where in the place of a logical and."""

NUMBER = 22
LINE = 28
CORRECTED = "allowed = np.where(mask, allowed, False)"
