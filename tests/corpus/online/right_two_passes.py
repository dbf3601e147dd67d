import math
import torch


def online_attention(query, key, value, block_size):
    # pass 1: the log-sum-exp of every row; pass 2: the mix, with weights that are divided already
    scale = 1 / math.sqrt(query.shape[-1])
    lse = None
    for k in key.split(block_size, dim=-2):
        part = torch.logsumexp(query @ k.mT * scale, dim=-1)
        lse = part if lse is None else torch.logaddexp(lse, part)
    out = torch.zeros_like(query)
    for k, v in zip(key.split(block_size, dim=-2), value.split(block_size, dim=-2)):
        out = out + torch.exp(query @ k.mT * scale - lse[..., None]) @ v
    return out
