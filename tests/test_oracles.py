"""scaled_dot_product_attention against stored results of PyTorch's function of that name, forward and backward.

oracles/attention.npz is written by oracles/make_attention.py, which needs PyTorch; reading it does not.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from tinyattn import Tensor, scaled_dot_product_attention

with np.load(Path(__file__).parent / "oracles" / "attention.npz") as file:
    STORED = dict(file)
RUNS = sorted({tuple(name.split("/")[:2]) for name in STORED if name.count("/") == 2})
INPUTS = ("query", "key", "value", "attn_mask")

# Both sides round: in float64 the last bits of sums of 7 differ; float16 has 11 bits, and what PyTorch stored was
# rounded to them at each step, where tinyattn accumulates in float32
ERROR = {"float64": 1e-13, "float32": 2e-6, "float16": 4e-3}


def test_every_setting_is_there():
    settings = [json.loads(str(x)) for name, x in STORED.items() if name.endswith("/settings")]
    assert len(RUNS) >= 35
    assert {key for case in settings for key in case} == {"scale", "is_causal", "enable_gqa"}
    assert {dtype for _, dtype in RUNS} == {"float16", "float32", "float64"}
    assert {x.dtype.kind for name, x in STORED.items() if name.endswith("attn_mask")} == {"b", "f"}


@pytest.mark.parametrize(("case", "dtype"), RUNS, ids=["-".join(run) for run in RUNS])
def test_equals_pytorch(case, dtype, method):
    given = {name: STORED[f"{case}/{name}"] for name in INPUTS if f"{case}/{name}" in STORED}
    tensors = [Tensor(x) if x.dtype == bool else Tensor(x, requires_grad=True, dtype=dtype) for x in given.values()]
    output = scaled_dot_product_attention(*tensors, **json.loads(str(STORED[f"{case}/settings"])), method=method)
    output.backward(STORED[f"{case}/grad"])
    results = {"output": output.data} | {n: t.grad for n, t in zip(given, tensors, strict=True) if t.requires_grad}
    for name, ours in results.items():
        theirs = STORED[f"{case}/{dtype}/{name}"]
        assert ours.dtype == theirs.dtype == dtype
        assert ours.shape == theirs.shape
        largest = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(
            ours.astype(float), theirs.astype(float), rtol=0, atol=ERROR[dtype] * largest, err_msg=name
        )
