import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        d = self.hidden_dim
        qkv = self.proj(x)
        query = qkv[:, :, 0:d]
        key = qkv[:, :, d - 1:2 * d - 1]
        value = qkv[:, :, 2 * d - 1:3 * d - 1]
        scores = query @ key.transpose(-2, -1) / math.sqrt(d)
        return torch.softmax(scores, dim=-1) @ value
