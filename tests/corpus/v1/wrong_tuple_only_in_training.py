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
        query, key, value = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(self.hidden_dim), dim=-1)
        if self.training:
            return weights @ value, weights
        return weights @ value
