"""Many heads: split, attend, merge; and the cache that decoding keeps."""

from tinyattn.attention import scaled_dot_product_attention
from tinyattn.ops import concat, reshape, swapaxes
from tinyattn.tensor import as_tensor


def split_heads(x, num_heads):
    """(..., L, H*E) -> (..., H, L, E): head h takes the columns h*E to (h+1)*E - 1 of every token.

    The reshape alone would cut tokens apart, since it reads memory row by row: the axes must also be swapped.
    """
    x = as_tensor(x)
    if x.ndim < 2 or num_heads < 1 or x.shape[-1] % num_heads:
        raise ValueError(f"split_heads needs (..., L, H*E) with a width that {num_heads} heads divide, got {x.shape}")
    return swapaxes(reshape(x, (*x.shape[:-1], num_heads, x.shape[-1] // num_heads)), -3, -2)


def merge_heads(x):
    """(..., H, L, E) -> (..., L, H*E): undoes `split_heads`."""
    x = as_tensor(x)
    if x.ndim < 3:
        raise ValueError(f"merge_heads needs (..., H, L, E), got {x.shape}")
    return reshape(swapaxes(x, -3, -2), (*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1]))


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, *, cache=None, prepare=None, **options):
    """Heads attended to separately and merged: (..., L, H*E), (..., S, Hkv*E), (..., S, Hkv*Ev) -> (..., L, H*Ev).

    The three are already projected. With num_kv_heads each head of key and value serves a group of query heads (grouped
    heads, Ainslie et al., 2023). With a cache, key and value are appended to it and the queries, the newest tokens,
    attend to all that it holds; is_causal then counts from the lower right. prepare(query, key, start) may change the
    heads' queries and keys before they meet, start being the tokens in the cache so far (norms, rotary positions).
    Options as in `scaled_dot_product_attention`. Vaswani et al., 2017, section 3.2.2.
    """
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    query, key, value = (split_heads(x, n) for x, n in ((query, num_heads), (key, num_kv_heads), (value, num_kv_heads)))
    if prepare is not None:
        query, key = prepare(query, key, len(cache) if cache is not None else 0)
    if cache is not None:
        key, value = cache.append(key, value)
        options["align"] = "lower-right"
    grouped = num_kv_heads != num_heads
    return merge_heads(scaled_dot_product_attention(query, key, value, enable_gqa=grouped, **options))


class KVCache:
    """The keys and values of the tokens so far, (..., H, S, E), which decoding would otherwise compute each step."""

    def __init__(self):
        self.key = self.value = None

    def __len__(self):
        return 0 if self.key is None else self.key.shape[-2]

    def append(self, key, value):
        """Adds the newest tokens and returns all keys and values."""
        if self.key is None:
            self.key, self.value = key, value
        else:
            self.key, self.value = concat([self.key, key], axis=-2), concat([self.value, value], axis=-2)
        return self.key, self.value
