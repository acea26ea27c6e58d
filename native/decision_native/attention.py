"""Attention of the rows of a forward. q, k, v [rows, heads, tokens, size], mask [rows, 1, queries, keys]."""

import torch
import torch.nn.functional as F

MOST_LOGITS = 2**26  # per head: more queries than that allows are computed in parts


def fused(q, k, v, mask, scale):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)


def written_out(q, k, v, mask, scale):
    """As the reference library has it for decoders."""
    logits = torch.matmul(q, k.transpose(2, 3)) * scale + mask
    return torch.matmul(logits.softmax(-1, dtype=torch.float32).to(v.dtype), v)


def attend(product, queries, keys, values, asked, kind, keys_at, scale):
    """
    @param product `fused` or `written_out`
    @param queries [packed, heads, size]
    @param keys    [past and new, key heads, size], like values
    @returns       [packed, heads * size]
    """
    rows, heads = asked.rows, queries.shape[1]
    if keys_at is not None:
        keys, values = keys[keys_at], values[keys_at]
    if asked.spread is not None:
        queries = queries[asked.spread]
    q, k, v = (x.reshape(rows, -1, *x.shape[1:]).transpose(1, 2) for x in (queries, keys, values))
    if k.shape[1] != heads:  # each head of keys serves adjacent heads of queries
        k, v = (of_heads(x, heads) for x in (k, v))
    mask = asked.masks[kind]
    step = max(16, MOST_LOGITS // (rows * k.shape[2]))
    parts = [
        product(some, k, v, mask[:, :, at : at + step], scale)
        for at, some in zip(range(0, q.shape[2], step), q.split(step, dim=2))
    ]
    seen = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)
    seen = seen.transpose(1, 2).reshape(-1, heads * v.shape[-1])
    return seen if asked.gather is None else seen[asked.gather]


def of_heads(x, heads):
    rows, key_heads, keys, size = x.shape
    return x[:, :, None].expand(rows, key_heads, heads // key_heads, keys, size).reshape(rows, heads, keys, size)
