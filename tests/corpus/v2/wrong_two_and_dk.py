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
        b, s, d = x.shape
        q, k, v = self.proj(x).view(b, 3, s, d).unbind(1)
        return F.softmax(q @ k.mT / d, dim=-1) @ v
