import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, context_dim=None, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.h = num_heads
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k, self.v = (nn.Linear(context_dim or hidden_dim, hidden_dim) for _ in range(2))
        self.o = nn.Linear(hidden_dim, hidden_dim)
        self.drop = nn.Dropout(dropout_rate)

    def fold(self, t):
        return torch.cat(t.chunk(self.h, dim=-1), dim=0)

    def forward(self, x, context, context_mask=None):
        q, k, v = self.fold(self.q(x)), self.fold(self.k(context)), self.fold(self.v(context))
        scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
        if context_mask is not None:
            hidden = (context_mask == 0).repeat(self.h, 1).unsqueeze(1)
            scores = torch.where(hidden, torch.full_like(scores, -1e20), scores)
        mixed = torch.bmm(self.drop(torch.softmax(scores, 2)), v)
        return self.o(torch.cat(mixed.chunk(self.h, dim=0), dim=-1))
