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
        # (batch, seq, dim)
        Q = self.query_proj(x)
        K = self.query_proj(x)
        V = self.query_proj(x)
        attn = torch.softmax(Q @ K.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1)
        return attn @ V
