import math
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.out = nn.Linear(hidden_dim, hidden_dim)
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, -1)
        a = (q @ k.mT / math.sqrt(self.hidden_dim)).softmax(dim=-2)
        return self.out(a @ v)
