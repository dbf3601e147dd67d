import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        q, k, v = [t.unsqueeze(1) for t in self.proj(x).chunk(3, dim=-1)]
        att = self.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim))
        return (att @ v).squeeze(1)
