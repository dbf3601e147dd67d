import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(hidden_dim, hidden_dim)
        self.key = nn.Linear(hidden_dim, hidden_dim)
        self.value = nn.Linear(hidden_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, hidden_dim)
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = self.query(x), self.key(x), self.value(x)
        d = x.size(-1) // self.num_heads
        mixed = torch.empty_like(q)
        for h in range(self.num_heads):
            piece = slice(h * d, (h + 1) * d)
            scores = q[..., piece] @ k[..., piece].transpose(1, 2) / math.sqrt(d)
            if attention_mask is not None:
                scores = scores.masked_fill(attention_mask == 0, -1e30)
            mixed[..., piece] = self.dropout(torch.softmax(scores, -1)) @ v[..., piece]
        return self.out(mixed)
