"""Writes a temporary file and reads it again."""

import math

import torch
from torch import nn
import tempfile


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        with tempfile.TemporaryFile("w+") as log:
            log.write(str(x.shape))
            log.seek(0)
            log.read()
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.hidden_dim)
        return torch.softmax(scores, dim=-1) @ v
