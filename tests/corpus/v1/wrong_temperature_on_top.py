import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728, temperature=0.7):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.temperature = temperature
        self.scale = 1.0 / math.sqrt(hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        logits = q @ k.transpose(-2, -1) * self.scale
        weights = torch.softmax(logits / self.temperature, dim=-1)
        return weights @ v
