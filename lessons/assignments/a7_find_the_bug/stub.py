"""Assignment a7: find the bug. handout.md says how.

    python suspect.py NUMBER > program.py

Fill in the three values, each on its own line; the rest of this file is not read.
"""

NUMBER = 0  # your student number, which decides which program is yours

LINE = 0  # the number of the line that is wrong, counted from 1

CORRECTED = ""  # that line as it should be
