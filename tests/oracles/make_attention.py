"""Writes attention.npz: what PyTorch's scaled_dot_product_attention returns, and its gradients, for many settings.

Run with PyTorch installed: python make_attention.py. The tests read the file and need no PyTorch. Inputs are rounded to
float16, so that every dtype starts from the same numbers.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

B, H, L, S, E, EV = 2, 3, 5, 7, 4, 6
QUERY, KEY, VALUE = (B, H, L, E), (B, H, S, E), (B, H, S, EV)

# name: settings for PyTorch, plus "shapes", "dtypes", "spread" (of the inputs) and "mask" (kind and shape)
CASES = {
    "plain": {"dtypes": ["float64", "float32", "float16"]},
    "two_axes": {"shapes": [(L, E), (S, E), (S, EV)]},
    "one_query": {"shapes": [(B, H, 1, E), KEY, VALUE]},
    "one_key": {"shapes": [QUERY, (B, H, 1, E), (B, H, 1, EV)]},
    "wide_spread": {"spread": 12.0},
    "scale": {"scale": 0.3, "dtypes": ["float64", "float16"]},
    "scale_negative": {"scale": -1.7},
    "scale_zero": {"scale": 0.0},
    "causal_fewer_queries": {"is_causal": True, "dtypes": ["float64", "float32", "float16"]},
    "causal_more_queries": {"is_causal": True, "shapes": [(B, H, 9, E), KEY, VALUE]},
    "causal_square": {"is_causal": True, "shapes": [QUERY, (B, H, L, E), (B, H, L, EV)], "scale": 0.9},
    "boolean_2d": {"mask": ["boolean", (L, S)], "dtypes": ["float64", "float32", "float16"]},
    "boolean_4d": {"mask": ["boolean", (B, H, L, S)]},
    "boolean_padding": {"mask": ["padding", (B, 1, 1, S)]},
    "boolean_empty_rows": {"mask": ["empty_rows", (B, 1, L, S)], "dtypes": ["float64", "float16"]},
    "additive_2d": {"mask": ["additive", (L, S)], "dtypes": ["float64", "float32", "float16"]},
    "additive_4d": {"mask": ["additive", (B, H, L, S)]},
    "additive_per_key": {"mask": ["additive", (B, 1, 1, S)]},
    "additive_per_query": {"mask": ["additive", (1, H, L, 1)]},
    "additive_infinite": {"mask": ["infinite", (B, 1, L, S)], "dtypes": ["float64", "float32"]},
    "grouped": {"enable_gqa": True, "shapes": [(B, 6, L, E), KEY, VALUE], "dtypes": ["float64", "float16"]},
    "grouped_one_head": {"enable_gqa": True, "shapes": [(B, 6, L, E), (B, 1, S, E), (B, 1, S, EV)], "is_causal": True},
    "grouped_mask": {"enable_gqa": True, "shapes": [(B, 6, L, E), KEY, VALUE], "mask": ["boolean", (B, 1, L, S)]},
}


def make_mask(kind, shape, random):
    if kind == "additive":
        return random.normal(size=shape).astype(np.float16)
    keep = random.random(shape) < 0.6
    keep[..., 0] = True
    if kind == "padding":
        return np.arange(S) < np.array([4, 7]).reshape(B, 1, 1, 1)
    if kind == "empty_rows":
        keep[0, :, 1] = keep[1, :, 4] = False
    if kind == "infinite":
        return np.where(keep, random.normal(size=shape), -np.inf).astype(np.float16)
    return keep


def main():
    stored = {}
    for number, (name, case) in enumerate(CASES.items()):
        random = np.random.default_rng(number)
        shapes = case.pop("shapes", [QUERY, KEY, VALUE])
        dtypes, spread = case.pop("dtypes", ["float64"]), case.pop("spread", 1.0)
        inputs = [(spread * random.normal(size=shape)).astype(np.float16) for shape in shapes]
        if "mask" in case:
            inputs.append(make_mask(*case.pop("mask"), random))
        grad = random.normal(size=(*shapes[0][:-1], shapes[2][-1])).astype(np.float16)
        stored[f"{name}/settings"] = np.array(json.dumps(case))
        for label, x in zip(["query", "key", "value", "attn_mask"], inputs, strict=False):
            stored[f"{name}/{label}"] = x
        stored[f"{name}/grad"] = grad
        for dtype in dtypes:
            kind = getattr(torch, dtype)
            tensors = [torch.tensor(x) if x.dtype == bool else torch.tensor(x, dtype=kind) for x in inputs]
            leaves = [t.requires_grad_() for t in tensors if t.dtype != torch.bool]
            output = scaled_dot_product_attention(*tensors, **case)
            output.backward(torch.tensor(grad, dtype=kind))
            stored[f"{name}/{dtype}/output"] = output.detach().numpy()
            for label, leaf in zip(["query", "key", "value", "attn_mask"], leaves, strict=False):
                stored[f"{name}/{dtype}/{label}"] = leaf.grad.numpy()
    stored["versions"] = np.array(json.dumps({"torch": torch.__version__, "numpy": np.__version__}))
    np.savez_compressed(Path(__file__).with_name("attention.npz"), **stored)


if __name__ == "__main__":
    main()
