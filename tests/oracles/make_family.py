"""Writes family.npz: what PyTorch computes for the modules around attention, forward and backward, in float64.

    pip install torch && python tests/oracles/make_family.py

Each case is stored as CASE/NAME: its inputs, its results and, under grad_NAME, the gradients of sum(result * upstream).
"""

from pathlib import Path

import numpy as np
import torch

B, L, S, E, H = 2, 5, 7, 12, 3
rng = np.random.default_rng(20261129)
cases = {"versions/torch": np.array(torch.__version__)}


def draw(*shape):
    return torch.tensor(rng.normal(size=shape), requires_grad=True)


def store(case, result, **inputs):
    """The inputs, the result, a random upstream gradient and the gradients that it leads to."""
    upstream = torch.tensor(rng.normal(size=result.shape))
    (result * upstream).sum().backward()
    cases[f"{case}/result"] = result.detach().numpy()
    cases[f"{case}/upstream"] = upstream.numpy()
    for name, x in inputs.items():
        cases[f"{case}/{name}"] = x.detach().numpy()
        if x.requires_grad:
            cases[f"{case}/grad_{name}"] = x.grad.numpy()


def norms():
    x, weight, bias = draw(B, L, E), draw(E), draw(E)
    store("layer_norm", torch.nn.functional.layer_norm(x, (E,), weight, bias, eps=1e-5), x=x, weight=weight, bias=bias)
    x, weight = draw(B, L, E), draw(E)
    store("rms_norm", torch.nn.functional.rms_norm(x, (E,), weight, eps=1e-6), x=x, weight=weight)


def cross_entropy():
    logits, targets = draw(B, L, 11), torch.tensor(rng.integers(0, 11, (B, L)))
    targets[0, 1] = targets[1, 3] = -100
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, 11), targets.reshape(-1), ignore_index=-100)
    store("cross_entropy", loss, logits=logits, targets=targets)


def rotary():
    """Pairs of columns as complex numbers, turned by exp(i * position * base^(-2i/E))."""
    x, positions = draw(B, H, L, E), torch.tensor([3.0, 4, 5, 9, 100], dtype=torch.float64)
    angles = positions[:, None] * 10000.0 ** (-torch.arange(0, E, 2, dtype=torch.float64) / E)
    turned = torch.view_as_complex(x.reshape(B, H, L, E // 2, 2)) * torch.polar(torch.ones_like(angles), angles)
    store("rotary", torch.view_as_real(turned).reshape(B, H, L, E), x=x, positions=positions)


def gru():
    net = torch.nn.GRU(E, 4, batch_first=True).double()
    weights = {name.removesuffix("_l0"): p for name, p in net.named_parameters()}
    for p in weights.values():
        p.data = torch.tensor(rng.normal(size=p.shape))
    x = draw(B, L, E)
    store("gru", net(x)[0], x=x, **weights)


def multi_head_attention():
    """Self- and cross-attention; a boolean mask of `torch.nn.MultiheadAttention` means the opposite of ours."""
    net = torch.nn.MultiheadAttention(E, H, batch_first=True).double()
    for p in net.parameters():
        p.data = torch.tensor(rng.normal(size=p.shape) / 2)
    parts = {"in_proj_weight": net.in_proj_weight, "in_proj_bias": net.in_proj_bias}
    parts |= {"out_weight": net.out_proj.weight, "out_bias": net.out_proj.bias}
    keep = torch.tensor(rng.random((L, S)) < 0.7)
    keep[:, 0] = True
    query, memory = draw(B, L, E), draw(B, S, E)
    result = net(query, memory, memory, attn_mask=~keep, need_weights=False)[0]
    store("cross_attention", result, query=query, memory=memory, keep=keep, **parts)
    net.zero_grad()
    x = draw(B, L, E)
    causal = torch.triu(torch.ones(L, L, dtype=torch.bool), 1)
    store("self_attention", net(x, x, x, attn_mask=causal, need_weights=False)[0], x=x, **parts)


def optimizers():
    """Seven steps down sum((p - target)^2 * curvature), every step's parameters stored."""
    start, target, curvature = (rng.normal(size=(3, 4)) for _ in range(3))
    cases.update({"optim/start": start, "optim/target": target, "optim/curvature": curvature**2})
    makers = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
        "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
        "adam": lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.1),
    }
    for name, make in makers.items():
        p = torch.tensor(start, requires_grad=True)
        optimizer, path = make([p]), []
        for _ in range(7):
            optimizer.zero_grad()
            (torch.tensor(curvature**2) * (p - torch.tensor(target)) ** 2).sum().backward()
            optimizer.step()
            path.append(p.detach().numpy().copy())
        cases[f"optim/{name}"] = np.array(path)
    p = torch.tensor(start, requires_grad=True)
    (p * torch.tensor(target)).sum().backward()
    norm = torch.nn.utils.clip_grad_norm_([p], 0.5)
    cases.update({"clip/norm": norm.numpy(), "clip/grad": p.grad.numpy()})


for make in (norms, cross_entropy, rotary, gru, multi_head_attention, optimizers):
    make()
np.savez_compressed(Path(__file__).with_name("family.npz"), **cases)
print(f"{len(cases)} arrays from PyTorch {torch.__version__}")
