"""Values as bytes between the grader and its worker: JSON for the structure, raw bytes for arrays, nothing unpickled.

A frame is an 8-byte length, that much JSON, then the bytes of the arrays that the JSON lists. Both ends import this
file; the worker imports it before any student code, and the grader believes nothing in a frame that it has not checked.
"""

import json
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

HEADER_LIMIT = 1 << 20
TEXT_LIMIT = 4000
_DTYPE = re.compile(r"[<>|=]?[biufc]\d{1,2}")


class BadFrame(ValueError):
    """The bytes are not a frame, or the frame is larger than was agreed."""


@dataclass(frozen=True)
class Odd:
    """A value that does not travel: only the name of its type does."""

    type: str


@dataclass(frozen=True)
class Huge:
    """An array too large to travel: only its shape does."""

    shape: tuple[int, ...]


def encode(value: Any, arrays: list[np.ndarray], limit: float = math.inf, depth: int = 0) -> Any:
    """The JSON tree of a value; the arrays in it are appended to `arrays`."""
    if value is None or isinstance(value, bool):
        return {"plain": value}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind not in "biufc":
            return {"odd": f"array of {array.dtype.name}"}
        if array.nbytes + sum(each.nbytes for each in arrays) > limit:
            return {"huge": list(array.shape)}
        arrays.append(array)
        return {"array": len(arrays) - 1}
    if isinstance(value, int | float) and (isinstance(value, float) or abs(value) < 2**63):
        return {"plain": value}
    if isinstance(value, str) and len(value) <= TEXT_LIMIT:
        return {"plain": str(value)}
    if isinstance(value, tuple | list) and len(value) <= 64 and depth < 3:
        return {"items": [encode(each, arrays, limit, depth + 1) for each in value], "tuple": isinstance(value, tuple)}
    return {"odd": type(value).__name__[:80]}


def decode(tree: Any, arrays: Sequence[np.ndarray], depth: int = 0) -> Any:
    """The value of a JSON tree; BadFrame where the tree is not one that `encode` makes."""
    match tree:
        case {"plain": None | bool() | int() | float() | str() as plain}:
            return plain
        case {"array": int() as index} if 0 <= index < len(arrays) and not isinstance(index, bool):
            return arrays[index]
        case {"items": list() as items, "tuple": bool() as is_tuple} if depth < 4:
            values = [decode(each, arrays, depth + 1) for each in items]
            return tuple(values) if is_tuple else values
        case {"huge": list() as shape} if all(type(size) is int for size in shape):
            return Huge(tuple(shape))
        case {"odd": str() as name}:
            return Odd(name[:80])
    raise BadFrame("a value that no worker sends")


def pack(header: dict[str, Any], arrays: Sequence[np.ndarray] = ()) -> bytes:
    """One frame."""
    listed = [{"dtype": each.dtype.str, "shape": list(each.shape)} for each in arrays]
    head = json.dumps(header | {"arrays": listed}).encode()
    return b"".join([struct.pack("<Q", len(head)), head, *(each.tobytes() for each in arrays)])


def unpack(read: Callable[[int], bytes], limit: float = math.inf) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The next frame from `read(n)`, which gives exactly n bytes; BadFrame if its arrays exceed `limit` bytes."""
    (length,) = struct.unpack("<Q", read(8))
    if length > (HEADER_LIMIT if limit < math.inf else 1 << 28):
        raise BadFrame("a header that is too long")
    try:
        header = json.loads(read(length))
        listed = header["arrays"]
        shapes = [(str(each["dtype"]), tuple(each["shape"])) for each in listed]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadFrame("a header that is not JSON of the agreed form") from error
    if not isinstance(listed, list):
        raise BadFrame("a header without its list of arrays")
    arrays = []
    for dtype, shape in shapes:
        if not _DTYPE.fullmatch(dtype) or not all(type(size) is int and size >= 0 for size in shape) or len(shape) > 32:
            raise BadFrame("an array of a kind that does not travel")
        try:
            kind = np.dtype(dtype)
        except TypeError as error:
            raise BadFrame("an array of a kind that does not travel") from error
        size = math.prod(shape) * kind.itemsize
        limit -= size
        if limit < 0:
            raise BadFrame("arrays larger than agreed")
        arrays.append(np.frombuffer(bytearray(read(size)), kind).reshape(shape))
    return header, arrays
