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
        batch, seq_len, hidden = x.shape
        query, key, value = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scores = query @ key.transpose(1, 2)
        scores = scores / math.sqrt(hidden - 1)
        return torch.softmax(scores, dim=2) @ value
