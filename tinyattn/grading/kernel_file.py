"""Reads a file with a kernel and its launch without running it, and makes of it the module that a worker runs.

Where a kernel is judged by what it did (races, bytes moved), the judge runs in the worker. So the student's Python must
not run beside it: from the file only strings, numbers and arithmetic are taken. Nor may the kernel reach behind CUDA.
"""

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

FUNCTIONS = {"min": min, "max": max, "int": int, "abs": abs, "round": round, "len": len}
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod,
}  # fmt: skip
STATEMENTS = (
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.Assign,
    ast.AugAssign,
    ast.If,
    ast.Return,
    ast.Expr,
    ast.Pass,
)
EXPRESSIONS = (
    ast.Constant, ast.Tuple, ast.Name, ast.expr_context, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip

# What would reach behind the emulator: its own names, the compiler's doors to assembly, attributes and other symbols.
WORDS = (
    r"emulator\w*|asm|__asm\w*|__attribute\w*|__builtin\w*|_Pragma|__tsan\w*|__ubsan\w*|__sanitizer\w*|import|module"
)
FORBIDDEN = (
    (re.compile(rf"\b(?:{WORDS})\b"), "may not use `{}`"),
    (re.compile(r'\bextern\b(?!\s*"C"\s*(?:__global__|__device__)|\s*(?:__align__\s*\(\d+\)\s*)?__shared__)'),
     "may use `{}` only for kernels and shared memory"),
    (re.compile(r"^\s*(?:#|%:)\s*(?!define\b|undef\b|pragma\s+unroll\b|if|else\b|elif\b|endif\b)\w+", re.M),
     "may not use `{}`: all that CUDA offers without headers is there"),
    (re.compile(r"##|%:%:|\?\?=|\\(?![nt0\"'\\])"), "may not use `{}`"),
)  # fmt: skip


def read(text: str) -> str:
    """The source of a module with KERNEL and launch alone; ValueError says in a sentence what cannot be taken over."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, RecursionError, ValueError) as error:
        line = getattr(error, "lineno", None)
        message = str(getattr(error, "msg", error))
        raise ValueError(f"{f'line {line}: ' if line else ''}{type(error).__name__}: {message}") from None
    names: dict[str, Any] = {}
    launch = ""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                try:
                    names[name] = _value(value, names)
                except ValueError:
                    if name == "KERNEL":
                        raise
            case ast.FunctionDef(name="launch"):
                launch = _launch(node, names)
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise ValueError(f"line {node.lineno}: only KERNEL, numbers and launch may stand in this file")
    kernel = names.get("KERNEL")
    if kernel is not None:
        if not isinstance(kernel, str):
            raise ValueError("KERNEL must be a string")
        _check_kernel(kernel)
    return "import math\n" + "".join(f"{name} = {value!r}\n" for name, value in names.items()) + "\n\n" + launch + "\n"


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of a string, a number, or arithmetic and replace with these."""
    match node:
        case ast.Constant(value=str() | int() | float() as value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            a, b = _value(left, names), _value(right, names)
            if isinstance(op, ast.Add) or (not isinstance(a, str) and not isinstance(b, str)):
                return ARITHMETIC[type(op)](a, b)
        case ast.Call(func=ast.Attribute(value=text, attr="replace"), args=[old, new], keywords=[]):
            parts = [_value(each, names) for each in (text, old, new)]
            if all(isinstance(each, str) for each in parts) and parts[1]:
                return parts[0].replace(parts[1], parts[2])
    raise ValueError(f"line {node.lineno}: only strings, numbers and arithmetic may stand here")


def _launch(node: ast.FunctionDef, names: dict[str, Any]) -> str:
    """The source of launch, once it is sure that it only computes."""
    if node.decorator_list or node.args.defaults or node.args.vararg or node.args.kwarg:
        raise ValueError(f"line {node.lineno}: launch takes rows and columns, no more")
    node.returns = None
    for parameter in node.args.args:
        parameter.annotation = None
    if any(isinstance(each, ast.Raise) for each in ast.walk(node)):
        return f"def {node.name}(rows, columns):\n    raise NotImplementedError"
    known = {*names, *FUNCTIONS, *(each.arg for each in node.args.args)}
    known |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                continue
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr="ceil"), keywords=[]):
                continue
            case ast.Attribute(value=ast.Name(id="math"), attr="ceil") | ast.Name(id="math"):
                continue
            case ast.Name(id=name) if name not in known:
                raise ValueError(f"line {each.lineno}: launch does not know `{name}`")
            case ast.BinOp(op=ast.Pow() | ast.LShift()):
                pass
            case _ if isinstance(each, (*STATEMENTS, *EXPRESSIONS)):
                continue
        line = getattr(each, "lineno", node.lineno)
        raise ValueError(f"line {line}: launch may only compute with rows, columns and numbers")
    return ast.unparse(node)


def _check_kernel(kernel: str) -> None:
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", kernel, flags=re.DOTALL)
    for pattern, message in FORBIDDEN:
        if found := pattern.search(code):
            raise ValueError(f"the kernel {message.format(' '.join(found.group().split()))}")
