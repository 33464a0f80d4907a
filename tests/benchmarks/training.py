"""One training step of the decoder beside the same model in eager PyTorch: same weights, batches and optimizer, on the
same cores; and the memory of tinyattn's steps over a long run.

python tests/benchmarks/training.py [--repeats 15] [--steps 1000]

Goal: at most 1.5 of PyTorch's time for a step, and memory that does not grow.
"""

import argparse
import resource
import sys
import tracemalloc

import numpy as np
from side_by_side import found, ratio, times

from tinyattn import nn, optim

VOCABULARY, MAX_LENGTH = 96, 64
SIZES = {  # batch, length, width, heads, layers; the first is that of lesson 14
    "lesson 14": (16, 64, 64, 1, 2),
    "small": (8, 32, 32, 4, 2),
    "wider": (16, 64, 128, 4, 4),
}
LR = 1e-3


def batches(batch, length):
    rng = np.random.default_rng(0)
    while True:
        yield rng.integers(0, VOCABULARY, (batch, length + 1))


def ours(batch, length, width, heads, layers):
    model = nn.TransformerDecoder(VOCABULARY, width, heads, layers, MAX_LENGTH, rng=0)
    optimizer = optim.AdamW(model.parameters(), LR)
    data = batches(batch, length)

    def step():
        ids = next(data)
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        optim.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step, model


def theirs(torch, state, batch, length, width, heads, layers):
    """The same decoder written as one writes it in PyTorch, its parameters named as ours so that it takes our state."""
    functional = torch.nn.functional

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.q_proj, self.k_proj = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
            self.v_proj, self.out_proj = torch.nn.Linear(width, width), torch.nn.Linear(width, width)

        def forward(self, x):
            q, k, v = (
                projection(x).unflatten(-1, (heads, -1)).transpose(1, 2)
                for projection in (self.q_proj, self.k_proj, self.v_proj)
            )
            output = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out_proj(output.transpose(1, 2).flatten(-2))

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
            self.attention = Attention()
            self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.down(self.up(self.norm2(x)).relu())

    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.positions = torch.nn.Parameter(torch.empty(MAX_LENGTH, width))
            self.tokens = torch.nn.Embedding(VOCABULARY, width)
            self.blocks = torch.nn.ModuleList(Block() for _ in range(layers))
            self.norm, self.head = torch.nn.LayerNorm(width), torch.nn.Linear(width, VOCABULARY)

        def forward(self, ids):
            x = self.tokens(ids) + self.positions[: ids.shape[1]]
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    model = Decoder()
    model.load_state_dict({name: torch.tensor(x) for name, x in state.items()})
    optimizer = torch.optim.AdamW(model.parameters(), LR)
    data = batches(batch, length)

    def step():
        ids = torch.tensor(next(data))
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


def side_by_side(repeats):
    peers = found("torch")
    if "torch" not in peers:
        return
    print(f"threads of PyTorch: {peers['torch'].get_num_threads()}")
    for name, sizes in SIZES.items():
        step, model = ours(*sizes)
        peer_step = theirs(peers["torch"], model.state_dict(), *sizes)
        apart = max(abs(step() - peer_step()) for _ in range(5))
        seconds = times({"tinyattn": step, "torch": peer_step}, repeats)
        print(
            f"{name:<10} batch {sizes[0]}, length {sizes[1]}, width {sizes[2]}, heads {sizes[3]}, layers {sizes[4]}: "
            f"tinyattn / torch {ratio(seconds, 'tinyattn', 'torch')}; losses of 5 steps differ by at most {apart:.1e}"
        )


def memory(steps):
    """Traced and resident memory after a tenth of the steps and after all of them."""
    step, _ = ours(*SIZES["small"])
    tracemalloc.start()
    for i in range(1, steps + 1):
        step()
        if i in (max(1, steps // 10), steps):
            unit = 1 if sys.platform == "darwin" else 1024
            resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
            traced = tracemalloc.get_traced_memory()[0]
            print(f"step {i:>5}: {traced:>9,} bytes traced, peak resident {resident / 2**20:.0f} MiB")
    tracemalloc.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    side_by_side(options.repeats)
    memory(options.steps)


if __name__ == "__main__":
    main()
