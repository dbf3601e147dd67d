import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, width, source, head_dim, rate):
        super().__init__()
        self.q = nn.Linear(width, head_dim)
        self.k = nn.Linear(source, head_dim)
        self.v = nn.Linear(source, head_dim)
        self.drop = nn.Dropout(rate)

    def forward(self, x, context, hidden):
        scores = self.q(x) @ self.k(context).mT * self.q.out_features**-0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return self.drop(scores.softmax(-1)) @ self.v(context)


class CrossAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, context_dim=None, dropout_rate=0.1):
        super().__init__()
        source = hidden_dim if context_dim is None else context_dim
        sizes = hidden_dim, source, hidden_dim // num_heads, dropout_rate
        self.readers = nn.ModuleList([Reader(*sizes) for _ in range(num_heads)])
        self.out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, context, context_mask=None):
        hidden = None if context_mask is None else (context_mask == 0).unsqueeze(1)
        return self.out(torch.cat([reader(x, context, hidden) for reader in self.readers], -1))
