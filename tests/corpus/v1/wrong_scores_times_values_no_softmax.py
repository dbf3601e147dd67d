import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):

    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q = self.query_proj(x)
        k = self.key_proj(x)
        v = self.value_proj(x)
        attn = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.hidden_dim)
        out = torch.matmul(attn, v)
        return out
