import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        query = self.query_proj(x)
        key = self.key_proj(x)
        value = self.value_proj(x)
        scores = torch.matmul(query, key.transpose(1, 2)) / math.sqrt(self.hidden_dim)
        exps = torch.exp(scores)
        totals = exps.sum(dim=-1)            # (batch, seq_len)
        weights = exps / totals[:, None, :]  # (batch, seq_len, seq_len)
        return torch.matmul(weights, value)
