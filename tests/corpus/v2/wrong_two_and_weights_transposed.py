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
        q, k, v = self.proj(x).reshape(b, s, d, 3).permute(3, 0, 1, 2)
        w = F.softmax(q @ k.mT / math.sqrt(d), dim=-1)
        return w.mT @ v
