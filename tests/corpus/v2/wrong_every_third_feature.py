import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)
        self.scale = hidden_dim ** -0.5

    def forward(self, x):
        p = self.proj(x)
        q, k, v = (p[..., i::3] for i in range(3))
        a = (q @ k.transpose(-1, -2) * self.scale).softmax(-1)
        return a @ v
