import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(hidden_dim, 3 * hidden_dim), nn.Unflatten(-1, (3, hidden_dim)))
        self.softmax = nn.Softmax(dim=-1)
        self.scale = hidden_dim**-0.5

    def forward(self, x):
        qkv = self.proj(x)  # (batch, seq_len, 3, hidden_dim)
        q, k, v = qkv.select(2, 0), qkv.select(2, 1), qkv.select(2, 2)
        return self.softmax(self.scale * (q @ k.transpose(-1, -2))) @ v
