import math

import torch
import torch.nn.functional as F
from torch import nn


class CausalSelfAttention(nn.Module):
    """Fused projection; what is later is worked out anew in each call."""

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12, max_seq_len: int = 1024, dropout_rate: float = 0.1):
        super().__init__()
        if hidden_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {hidden_dim}")
        self.n = num_heads
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        self.out = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.rate = dropout_rate

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.n, C // self.n).permute(2, 0, 3, 1, 4)
        att = q @ k.mT / math.sqrt(C // self.n)
        future = torch.triu(torch.ones(T, T, device=x.device), diagonal=1)
        future = F.dropout(future, self.rate, self.training) > 0
        att = att.masked_fill(future, float("-inf")).softmax(-1)
        return self.out((att @ v).transpose(1, 2).flatten(2))
