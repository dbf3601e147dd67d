import copy
import math

import torch
import torch.nn as nn


def clones(module, N):
    "Produce N identical layers."
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


def attention(query, key, value, mask=None, dropout=None):
    "Compute 'Scaled Dot Product Attention'"
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super(SelfAttentionV1, self).__init__()
        self.linears = clones(nn.Linear(hidden_dim, hidden_dim), 3)
        self.attn = None

    def forward(self, x):
        query, key, value = [lin(t) for lin, t in zip(self.linears, (x, x, x))]
        out, self.attn = attention(query, key, value)
        return out
