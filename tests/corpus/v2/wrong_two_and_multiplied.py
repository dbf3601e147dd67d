import math
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        k, q, v = self.proj(x).split(self.hidden_dim, dim=-1)
        return F.softmax(q @ k.mT * self.hidden_dim ** 0.5, dim=-1) @ v
