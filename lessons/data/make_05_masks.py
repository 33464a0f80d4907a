"""Writes 05_masks.csv: what other libraries do with a query that may attend to no key.

    DEV=PYTHON KERAS_BACKEND=jax python make_05_masks.py    # needs torch, jax, flax, keras, tinygrad and scipy

Query 0 may attend to keys 0 and 1, query 1 to none. The values are the rows of the identity, so that a library's output
is the weights that it gave to the four keys. A CSV row holds those of query 1.
"""

import csv
from importlib.metadata import version
from pathlib import Path

import flax.linen
import jax
import jax.numpy as jnp
import keras
import numpy as np
import scipy.special
import tinygrad
import torch

QUERY = np.array([[1, 0, -1, 2], [2, 1, 0, 1]], np.float32)
KEY = np.array([[1, 1, 0, 1], [0, 2, 1, 0], [2, 0, 1, -1], [-1, 1, 0, 2]], np.float32)
VALUE = np.eye(4, dtype=np.float32)
KEEP = np.array([[True, True, False, False], [False] * 4])
SCORES = QUERY @ KEY.T / 2


def torch_functions():
    query, key, value, keep = (torch.tensor(x)[None, None] for x in (QUERY, KEY, VALUE, KEEP))
    attention = torch.nn.functional.scaled_dot_product_attention
    yield "scaled_dot_product_attention, boolean mask", attention(query, key, value, keep)
    added = torch.zeros(KEEP.shape).masked_fill(~torch.tensor(KEEP), -torch.inf)
    yield "scaled_dot_product_attention, -inf added", attention(query, key, value, added)
    yield "softmax of scores filled with -inf", torch.softmax(torch.tensor(np.where(KEEP, SCORES, -np.inf)), -1)
    layer = torch.nn.MultiheadAttention(4, 1, bias=False, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight[:] = torch.eye(4).repeat(3, 1)
        layer.out_proj.weight[:] = torch.eye(4)
        for need_weights in (True, False):
            # True means the opposite here: may not attend
            output, _ = layer(query[0], key[0], value[0], attn_mask=~torch.tensor(KEEP), need_weights=need_weights)
            yield f"MultiheadAttention, need_weights={need_weights}", output


def jax_functions():
    def split(x):
        return jnp.asarray(x)[None, :, None, :]  # B, length, heads, width

    output = jax.nn.dot_product_attention(*map(split, (QUERY, KEY, VALUE)), mask=jnp.asarray(KEEP)[None, None])
    yield "nn.dot_product_attention, boolean mask", output[0, :, 0]
    yield "nn.softmax of scores filled with -inf", jax.nn.softmax(jnp.where(KEEP, SCORES, -jnp.inf))
    yield "nn.softmax with where=mask", jax.nn.softmax(jnp.asarray(SCORES), where=jnp.asarray(KEEP))


def flax_functions():
    query, key, value = (jnp.asarray(x)[None, :, None, :] for x in (QUERY, KEY, VALUE))
    output = flax.linen.dot_product_attention(query, key, value, mask=jnp.asarray(KEEP)[None, None])
    yield "linen.dot_product_attention, boolean mask", output[0, :, 0]


def keras_functions():
    query, key, value = (x[None, :, None, :] for x in (QUERY, KEY, VALUE))
    output = keras.ops.dot_product_attention(query, key, value, mask=KEEP[None, None])
    yield "ops.dot_product_attention, boolean mask", output[0, :, 0]
    yield "layers.Softmax with a mask", keras.layers.Softmax()(SCORES, mask=KEEP)


def tinygrad_functions():
    query, key, value, keep = (tinygrad.Tensor(x)[None, None] for x in (QUERY, KEY, VALUE, KEEP))
    yield "scaled_dot_product_attention, boolean mask", query.scaled_dot_product_attention(key, value, keep).numpy()


def scipy_functions():
    yield "special.softmax of scores filled with -inf", scipy.special.softmax(np.where(KEEP, SCORES, -np.inf), axis=-1)


if __name__ == "__main__":
    functions = {
        "torch": torch_functions, "jax": jax_functions, "flax": flax_functions, "keras": keras_functions,
        "tinygrad": tinygrad_functions, "scipy": scipy_functions,
    }  # fmt: skip
    with Path(__file__).with_name("05_masks.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["library", "version", "function", "key 0", "key 1", "key 2", "key 3"])
        for library, results in functions.items():
            for function, output in results():
                weights = np.asarray(output.detach() if library == "torch" else output).reshape(2, 4)
                print(library, function, weights.round(4).tolist())
                assert not weights[0, 2:].any(), "query 0 sees what is masked: the mask was passed wrongly"
                release = version(library).partition("+")[0]
                writer.writerow([library, release, function, *(f"{w:.6g}" for w in weights[1])])
