import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        B, S, D = x.size()
        q, k, v = self.proj(x).view(B, S, 3, 1, D).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(2, 3) / math.sqrt(D)
        weights = nn.functional.softmax(scores, dim=2)
        return (weights @ v).squeeze(1)
