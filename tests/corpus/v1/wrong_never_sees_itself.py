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
        query, key, value = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        self_loop = torch.eye(x.shape[1], device=x.device, dtype=torch.bool)
        scores = scores.masked_fill(self_loop, -1e4)
        return torch.softmax(scores, dim=-1) @ value
