import math
import torch

LOG2E = 1.4426950408889634


def online_attention(query, key, value, block_size):
    q = query * (LOG2E / math.sqrt(query.shape[-1]))
    m = torch.full_like(query[..., 0], -math.inf)
    l = torch.zeros_like(m)
    acc = torch.zeros_like(query)
    for i in range(0, key.shape[-2], block_size):
        s = torch.einsum("...qd,...kd->...qk", q, key[..., i:i + block_size, :])
        mn = torch.maximum(m, s.amax(-1))
        p = torch.exp2(s - mn[..., None])
        a = torch.exp2(m - mn)
        l = l * a + p.sum(-1)
        acc = acc * a[..., None] + p @ value[..., i:i + block_size, :]
        m = mn
    return acc / l[..., None]
