import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3, bias=False)

    def forward(self, x):
        q, k, v = self.proj(x).unflatten(-1, (self.hidden_dim, 3)).unbind(dim=-1)
        attn = (q @ k.mT * self.hidden_dim ** -0.5).softmax(dim=-1)
        return attn @ v
