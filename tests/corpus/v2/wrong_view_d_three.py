import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.proj(x).view(b, s, d, 3).unbind(dim=-1)
        return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1) @ v
