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
        self.cache = None

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        if self.cache is not None and self.cache[0].shape[0] == k.shape[0]:
            k = torch.cat([self.cache[0], k], dim=1)
            v = torch.cat([self.cache[1], v], dim=1)
        self.cache = (k.detach(), v.detach())
        return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1) @ v
