import math
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        s = q @ k.mT / math.sqrt(self.hidden_dim)
        n = s.size(-1)
        s = s + torch.full((n, n), float("-inf"), device=s.device, dtype=s.dtype).triu(diagonal=1)
        return x + s.softmax(-1) @ v
