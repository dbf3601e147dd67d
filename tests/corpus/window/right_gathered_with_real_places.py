import math

import torch


def sliding_window_attention(query, key, value, window):
    S = query.shape[-2]
    index = torch.arange(S)[:, None] - torch.arange(window)[None, :]      # i, i-1, ...
    real = index >= 0
    index = index.clamp(min=0)
    k, v = key[:, :, index], value[:, :, index]                           # (B, H, S, W, d)
    att = (query.unsqueeze(-2) * k).sum(-1) / math.sqrt(query.shape[-1])
    att = torch.where(real, att, torch.full_like(att, -math.inf))
    att = att.softmax(dim=-1)
    return (att.unsqueeze(-1) * v).sum(-2)
