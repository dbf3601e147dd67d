import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728, window=16):
        super().__init__()
        self.window = window
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        i = torch.arange(x.size(1), device=x.device)
        far = (i[:, None] - i[None, :]).abs() > self.window
        scores = scores.masked_fill(far, float("-inf"))
        return scores.softmax(-1) @ v
