import math
from typing import Optional

import torch
from torch import Tensor, nn


class KVStore:
    """Keys and values of one sequence; update joins and returns all of them."""

    def __init__(self):
        self.keys: Optional[Tensor] = None
        self.values: Optional[Tensor] = None

    def __len__(self):
        return 0 if self.keys is None else self.keys.shape[1]

    def update(self, keys, values):
        if self.keys is None:
            self.keys, self.values = keys, values
        else:
            self.keys = torch.cat([self.keys, keys], dim=1)
            self.values = torch.cat([self.values, values], dim=1)
        return self.keys, self.values


class CachedSelfAttention(nn.Module):
    def __init__(self, hidden_dim: int = 768, num_heads: int = 12):
        super().__init__()
        self.heads = num_heads
        self.dim = hidden_dim // num_heads
        self.Wq = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.Wk = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.Wv = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.Wo = nn.Linear(hidden_dim, hidden_dim, bias=False)

    def forward(self, x, cache=None):
        store = KVStore() if cache is None else cache
        start = len(store)
        b, n, _ = x.shape
        cut = (b, n, self.heads, self.dim)
        q, k, v = self.Wq(x).view(cut), self.Wk(x).view(cut), self.Wv(x).view(cut)
        k, v = store.update(k, v.detach())
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.dim)
        at = torch.arange(start, start + n)
        scores = scores.masked_fill(torch.arange(k.shape[1]) > at[:, None], -math.inf)
        out = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)
        return self.Wo(out.reshape(b, n, -1)), store
