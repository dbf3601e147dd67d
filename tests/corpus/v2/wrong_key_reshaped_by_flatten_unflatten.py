import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.proj(x).chunk(3, dim=-1)
        k_t = k.flatten(1).unflatten(1, (d, s))
        w = (q @ k_t).div(math.sqrt(d)).softmax(-1)
        return w @ v
