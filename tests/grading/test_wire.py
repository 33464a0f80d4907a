"""Frames survive the trip; junk never becomes anything but BadFrame or the end of the pipe."""

import io
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from tinyattn.grading import wire


def reader(data):
    stream = io.BytesIO(data)

    def read(size):
        part = stream.read(size)
        if len(part) < size:
            raise EOFError
        return part

    return read


ARRAYS = nps.arrays(
    st.sampled_from(["f8", "f4", "f2", "i8", "u1", "?", "c16"]), nps.array_shapes(min_dims=0, min_side=0)
)
PLAIN = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=20)
VALUES = st.recursive(ARRAYS | PLAIN, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


@given(VALUES)
def test_values_survive_the_trip(value):
    arrays = []
    tree = wire.encode(value, arrays)
    header, received = wire.unpack(reader(wire.pack({"value": tree}, arrays)))
    assert_same(wire.decode(header["value"], received), value)


def assert_same(a, b):
    if isinstance(b, list):
        if isinstance(a, wire.Odd):  # nested deeper than answers may be
            return
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(b, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    else:
        assert type(a) is type(b)
        assert a == b or (a != a and b != b)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_frame(data):
    with pytest.raises((wire.BadFrame, EOFError)):
        wire.unpack(reader(data), 1000)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["array", "plain", "items", "tuple", "huge", "odd", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_json_that_is_no_value(tree):
    try:
        value = wire.decode(tree, [])
    except wire.BadFrame:
        return
    assert isinstance(value, None.__class__ | bool | int | float | str | list | tuple | wire.Odd | wire.Huge)


@given(JSON)
def test_headers_that_are_no_headers(arrays):
    head = json.dumps({"arrays": arrays}).encode()
    try:
        wire.unpack(reader(struct.pack("<Q", len(head)) + head), 1000)
    except (wire.BadFrame, EOFError):
        return
    assert arrays == []


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("<f8", [1000]),
        ("<f8", [-1]),
        ("|O", [2]),
        ("<U5", [2]),
        ("<f9", [1]),
        ("<f8", [2.0]),
        ("<f8", [10**30]),
        ("<M8[s]", [1]),
    ],
)
def test_arrays_that_do_not_travel(dtype, shape):
    head = json.dumps({"arrays": [{"dtype": dtype, "shape": shape}]}).encode()
    with pytest.raises(wire.BadFrame):
        wire.unpack(reader(struct.pack("<Q", len(head)) + head + bytes(8000)), 1000)


def test_a_result_beyond_the_limit_sends_its_shape_alone():
    arrays = []
    assert wire.encode(np.broadcast_to(1.0, (1 << 40, 3)), arrays, 1 << 20) == {"huge": [1 << 40, 3]}
    assert arrays == []
