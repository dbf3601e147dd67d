import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        q, k, v = torch.dsplit(self.proj(x), 3)  # depth = the last axis
        p = torch.softmax(q @ k.mT / self.hidden_dim**0.5, dim=-1)
        return p @ v
