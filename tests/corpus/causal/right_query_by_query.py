import math

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, max_seq_len=1024, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(hidden_dim, hidden_dim) for _ in range(4))
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x):
        cut = lambda t: t.unflatten(-1, (self.heads, -1))
        q, k, v = cut(self.q(x)), cut(self.k(x)), cut(self.v(x))  # (batch, length, heads, d)
        rows = []
        for i in range(x.size(1)):
            scores = torch.einsum("bhd,bkhd->bhk", q[:, i], k[:, : i + 1]) / math.sqrt(q.size(-1))
            weights = self.drop(torch.softmax(scores, dim=-1))
            rows.append(torch.einsum("bhk,bkhd->bhd", weights, v[:, : i + 1]))
        return self.o(torch.stack(rows, dim=1).flatten(2))
