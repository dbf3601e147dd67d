import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        keep = torch.triu(torch.ones_like(scores))
        scores = scores.masked_fill(keep == 0, float("-inf"))
        return torch.softmax(scores, dim=-1) @ v
