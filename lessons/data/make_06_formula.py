"""Writes 06_formula.npz: inputs, and what PyTorch's scaled_dot_product_attention and its gradients make of them.

    python make_06_formula.py        # needs torch

Keys: query, key, value, upstream, keep (boolean), bias (floating), and for each mask and dtype the arrays
"mask/dtype/name" with the names output, query, key, value and, for the floating mask, bias.
"""

from pathlib import Path

import numpy as np
import torch

H, L, S, E, Ev = 2, 7, 9, 5, 6


def main():
    rng = np.random.default_rng(6)
    shapes = {"query": (H, L, E), "key": (H, S, E), "value": (H, S, Ev), "upstream": (H, L, Ev), "bias": (L, S)}
    # rounded to float16, so that all dtypes start from the same numbers
    stored = {name: rng.normal(size=shape).astype(np.float16).astype(float) for name, shape in shapes.items()}
    stored["keep"] = rng.random((L, S)) < 0.6
    stored["version"] = np.array(torch.__version__.partition("+")[0])
    for mask in "none", "causal", "boolean", "floating":
        for dtype in torch.float64, torch.float32, torch.float16:
            leaves = {n: torch.tensor(stored[n], dtype=dtype, requires_grad=True) for n in ("query", "key", "value")}
            options = {}
            if mask == "floating":
                options["attn_mask"] = leaves["bias"] = torch.tensor(stored["bias"], dtype=dtype, requires_grad=True)
            elif mask == "boolean":
                options["attn_mask"] = torch.tensor(stored["keep"])
            elif mask == "causal":
                options["is_causal"] = True
            inputs = (leaves[n] for n in ("query", "key", "value"))
            output = torch.nn.functional.scaled_dot_product_attention(*inputs, **options)
            output.backward(torch.tensor(stored["upstream"], dtype=dtype))
            case = f"{mask}/{str(dtype).removeprefix('torch.')}"
            stored[f"{case}/output"] = output.detach().numpy()
            stored |= {f"{case}/{name}": leaf.grad.numpy() for name, leaf in leaves.items()}
    np.savez_compressed(Path(__file__).with_name("06_formula.npz"), **stored)


if __name__ == "__main__":
    main()
