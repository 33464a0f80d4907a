"""Assignment a7: find the bug. A submission is three values; the grader puts the corrected line into the program."""

import ast
import re
import runpy
from pathlib import Path

import numpy as np

from tinyattn.grading.assignment import Assignment, Call, Question, Test, sizes

SUSPECT = runpy.run_path(str(Path(__file__).parent / "given" / "suspect.py"))

# The spellings that are right; every other one is a fault.
RIGHT = {
    "split": [0, 1],
    "turn": [0, 2],
    "together": [0, 1],
    "merge": [0, 1],
    "causal": [1, 3, 6],
    "combine": [0, 1],
    "fill": [4, 5],
    "peak": [0, 1],
    "finite": [2, 3],
    "exp": [2],
    "total": [1, 2],
    "guard": [0, 1],
    "divide": [0, 3],
    "scores": [0, 3],
    "scale": [0, 2, 5],
    "allowed": [2, 4],
    "weights": [3],
    "output": [0, 2],
}

VALUES = re.compile(r"^(NUMBER|LINE|CORRECTED)[ \t]*=[ \t]*(.{1,300})$", re.MULTILINE)
BUILTINS = {
    "abs",
    "all",
    "any",
    "bool",
    "float",
    "int",
    "len",
    "list",
    "max",
    "min",
    "range",
    "round",
    "slice",
    "sum",
    "tuple",
}


def fault(number):
    """The number of the line that is wrong in a program, and that line."""
    choices = SUSPECT["choices"](number)
    (name,) = [name for name, choice in choices.items() if choice not in RIGHT[name]]
    line = SUSPECT["SPELLINGS"][name][choices[name]]
    lines = [each.strip() for each in SUSPECT["program"](number).splitlines()]
    return lines.index(line) + 1, line


def values(source):
    """NUMBER, LINE and CORRECTED of a file, of which nothing is run; ValueError if they are not there."""
    found = {}
    for name, text in VALUES.findall(source):
        try:
            found[name] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise ValueError(f"{name} should be a plain value on one line, like those in the stub") from None
    for name, kind in (("NUMBER", int), ("LINE", int), ("CORRECTED", str)):
        if type(found.get(name)) is not kind:
            raise ValueError(f"the file should have a line {name} = ..., with a value of type {kind.__name__}")
    return found["NUMBER"], found["LINE"], found["CORRECTED"]


def statement(text, known):
    """The syntax tree of a corrected line: one assignment or return, with names that the program knows."""
    try:
        body = ast.parse(text).body if len(text) <= 120 and text.isprintable() else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    if len(body) != 1 or not isinstance(body[0], ast.Assign | ast.AugAssign | ast.Return):
        raise ValueError("CORRECTED should be one assignment or return, on one line of at most 120 characters")
    for node in ast.walk(body[0]):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("_") or (isinstance(node, ast.Name) and name not in known | BUILTINS):
            raise ValueError("CORRECTED should use the program's own names, NumPy, math and plain built-in functions")
    return body[0]


def prepare(source):
    """The program of the number that is handed in, with the corrected line in its place, and what is known of both."""
    number, line, corrected = values(source)
    program = SUSPECT["program"](number).splitlines()
    if line == 0 and not corrected.strip():
        return "PLACE = None\n"
    if not 1 <= line <= len(program):
        raise ValueError(f"LINE is {line}; program {number} has the lines 1 to {len(program)}")
    where, wrong = fault(number)
    old, fields = program[line - 1], ("id", "arg", "name")
    if not old.strip().startswith("return ") and not re.match(r"\s+\w+ = ", old):
        raise ValueError(f"line {line} of program {number} is no assignment and no return, and one of these is wrong")
    known = {str(getattr(node, each, "")) for node in ast.walk(ast.parse("\n".join(program))) for each in fields}
    after = statement(corrected.strip(), known)
    program[line - 1] = old[: len(old) - len(old.lstrip())] + corrected.strip()
    place = (
        "the line of the fault" if line == where else "a line after the fault" if line > where else "a line before it"
    )
    changed = line != where or ast.dump(after) != ast.dump(ast.parse(wrong).body[0])
    return "\n".join([*program, f"PLACE = {place!r}", f"CHANGED = {changed}", ""])


def tables(rng, heads, L=None, S=None):
    """query, key, value and the number of heads; all sizes are distinct, those of one head too."""
    B, *free = sizes(rng, 9, 2, 11)
    free = [size for size in free if size not in (L, S, heads)]
    L, S, E, Ev = L or free[0], S or free[1], free[2], free[3]
    return [rng.normal(size=(B, *shape)) for shape in ((L, heads * E), (S, heads * E), (S, heads * Ev))] + [heads]


def some_keys(rng, *shape):
    """A mask in which every query may attend to some of the keys, and which is not symmetric."""
    mask = rng.random(shape) < 0.5
    mask[..., -1], mask[..., 0, :] = True, np.arange(shape[-1]) != 1
    return mask


def plain(rng):
    return Call(*tables(rng, 3))


def one_head(rng):
    return Call(*tables(rng, 1))


def square(rng):
    return Call(*tables(rng, 2, L=7, S=7))


def masked(rng):
    args = tables(rng, 2)
    return Call(*args, mask=some_keys(rng, args[0].shape[1], args[1].shape[1]))


def masked_square(rng):
    return Call(*tables(rng, 2, L=6, S=6), mask=some_keys(rng, 6, 6))


def padded(rng):
    args = tables(rng, 2)
    B, S = args[1].shape[:2]
    lengths = rng.integers(1, S, B)
    return Call(*args, mask=(np.arange(S) < lengths[:, None])[:, None, None])


def empty(rng):
    args = tables(rng, 2)
    mask = some_keys(rng, args[0].shape[1], args[1].shape[1])
    mask[1] = False
    return Call(*args, mask=mask)


def causal(rng):
    return Call(*tables(rng, 2, L=6, S=6), is_causal=True)


def causal_more_keys(rng):
    return Call(*tables(rng, 2, L=4, S=7), is_causal=True)


def causal_more_queries(rng):
    return Call(*tables(rng, 2, L=7, S=4), is_causal=True)


def causal_masked(rng):
    mask = some_keys(rng, 5, 7)
    mask[:, 0] = True
    mask[3, :3] = True, False, False
    return Call(*tables(rng, 2, L=5, S=7), mask=mask, is_causal=True)


def shifted(by):
    """Scores near a large number, or its negative: the first component of each head sees to it."""

    def probe(rng):
        query, key, value, heads = tables(rng, 2)
        E = query.shape[-1] // heads
        query[..., ::E], key[..., ::E] = by * np.sqrt(E), 1
        return Call(query, key, value, heads, mask=some_keys(rng, query.shape[1], key.shape[1]))

    return probe


def rows_apart(rng):
    """One query's scores are near 1000, the others' near 0."""
    query, key, value, heads = tables(rng, 2)
    E = query.shape[-1] // heads
    query[:, 1, ::E], key[..., ::E] = 1000 * np.sqrt(E), 1
    return Call(query, key, value, heads)


PROBES = (
    *(plain, one_head, square, masked, masked_square, padded, empty),
    *(causal, causal_more_keys, causal_more_queries, causal_masked, shifted(1000), shifted(-1000), rows_apart),
)

ASSIGNMENT = Assignment(
    title="Find the bug",
    file="a7_find_the_bug.py",
    prepare=prepare,
    questions=(
        Question("place", (Test("line", 40, (lambda rng: Call(),), public=True, about="the line that is wrong"),)),
        Question("repair", (Test("works", 60, PROBES, about="the program with the corrected line"),)),
    ),
)
