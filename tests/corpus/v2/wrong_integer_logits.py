import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        q, k, v = torch.chunk(self.proj(x), 3, dim=2)
        scores = torch.bmm(q, k.permute(0, 2, 1))
        scores //= math.sqrt(self.hidden_dim)
        p = scores.softmax(dim=-1)
        return torch.bmm(p, v)
