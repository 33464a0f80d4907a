"""Optimizers: each step moves the parameters against their gradients, in place. Names as in `torch.optim`."""

import math

import numpy as np

from tinyattn.backend import namespace


class _Optimizer:
    def __init__(self, parameters, lr):
        self.parameters = list(parameters)
        if not self.parameters or not all(getattr(p, "requires_grad", False) for p in self.parameters):
            raise ValueError("an optimizer needs parameters: tensors with requires_grad=True")
        if not lr >= 0:
            raise ValueError(f"lr must not be negative, got {lr}")
        self.lr = lr
        self.steps = 0
        self.state = {}  # name of a moment -> one array for each parameter

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        """Moves every parameter that has a gradient."""
        self.steps += 1
        for i, p in enumerate(self.parameters):
            if p.grad is not None:
                self._move(i, p.data, p.grad)

    def _move(self, i, p, grad):
        raise NotImplementedError

    def _moments(self, *names):
        for name in names:
            self.state[name] = [namespace(p.data).zeros_like(p.data) for p in self.parameters]

    def state_dict(self):
        """{name: NumPy array}: the number of steps and all moments, for `nn.save`."""
        arrays = {
            f"{name}.{i}": np.array(x.get() if hasattr(x, "get") else x)
            for name, moments in self.state.items()
            for i, x in enumerate(moments)
        }
        return {"steps": np.array(self.steps), **arrays}

    def load_state_dict(self, state):
        expected = self.state_dict()
        wrong = sorted(n for n in expected.keys() | state.keys() if np.shape(expected.get(n)) != np.shape(state.get(n)))
        wrong += sorted(expected.keys() ^ state.keys())
        if wrong:
            raise ValueError(f"the state does not fit this optimizer: {', '.join(dict.fromkeys(wrong))}")
        self.steps = int(state["steps"])
        for name, moments in self.state.items():
            for i, x in enumerate(moments):
                x[...] = namespace(x).asarray(state[f"{name}.{i}"])


class SGD(_Optimizer):
    """p -= lr * v with v = momentum * v + grad + weight_decay * p."""

    def __init__(self, parameters, lr=1e-2, momentum=0.0, weight_decay=0.0):
        super().__init__(parameters, lr)
        self.momentum, self.weight_decay = momentum, weight_decay
        if momentum:
            self._moments("velocity")

    def _move(self, i, p, grad):
        if self.weight_decay:
            grad = grad + self.weight_decay * p
        if self.momentum:
            velocity = self.state["velocity"][i]
            velocity *= self.momentum
            velocity += grad
            grad = velocity
        p -= self.lr * grad


class Adam(_Optimizer):
    """Steps of about lr whatever the gradient's size: mean over root mean square (Kingma and Ba, 2015)."""

    decoupled = False

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(parameters, lr)
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay
        self._moments("mean", "square")

    def _move(self, i, p, grad):
        beta1, beta2 = self.betas
        if self.weight_decay and self.decoupled:
            p *= 1 - self.lr * self.weight_decay
        elif self.weight_decay:
            grad = grad + self.weight_decay * p
        mean, square = self.state["mean"][i], self.state["square"][i]
        mean += (1 - beta1) * (grad - mean)
        square += (1 - beta2) * (grad * grad - square)
        root = namespace(p).sqrt(square)
        root /= math.sqrt(1 - beta2**self.steps)
        root += self.eps
        p -= (self.lr / (1 - beta1**self.steps)) * mean / root


class AdamW(Adam):
    """Adam whose weight decay does not pass through the moments (Loshchilov and Hutter, 2019)."""

    decoupled = True

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(parameters, lr, betas, eps, weight_decay)


def clip_grad_norm(parameters, max_norm):
    """Scales all gradients together so that their common norm is at most max_norm; returns the norm before."""
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = math.sqrt(sum((g.astype(np.float64) ** 2).sum().item() for g in grads))
    if norm > max_norm:
        for g in grads:
            g *= g.dtype.type(max_norm / norm)
    return norm


def warmup_cosine(step, lr, warmup, total, final=0.1):
    """The learning rate at a step: a line up over `warmup` steps, then a cosine down to final * lr at `total`."""
    if step < warmup:
        return lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / max(1, total - warmup))
    return lr * (final + (1 - final) * (1 + math.cos(math.pi * progress)) / 2)
