import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.kv = nn.Linear(hidden_dim, hidden_dim * 2)

    def forward(self, x):
        q = self.q(x)
        k, v = self.kv(x).chunk(2, dim=-1)
        return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1) @ v
