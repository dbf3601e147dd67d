import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        # subtract the max for numerical stability
        s = s - s.max(dim=1, keepdim=True)[0]
        p = s.exp()
        p = p / p.sum(dim=-1, keepdim=True)
        return p @ v
