import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    @staticmethod
    def softmax1(s):
        e = s.exp()
        return e / (1 + e.sum(dim=-1, keepdim=True))

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        return self.softmax1(q @ k.mT / self.hidden_dim ** 0.5) @ v
