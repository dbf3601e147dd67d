import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x).double(), self.key_proj(x).double(), self.value_proj(x).double()
        return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1) @ v
