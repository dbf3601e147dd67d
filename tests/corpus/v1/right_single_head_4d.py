import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728, num_heads=1):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def _split(self, t):
        b, s, _ = t.shape
        return t.view(b, s, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = map(self._split, (self.query_proj(x), self.key_proj(x), self.value_proj(x)))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        out = F.softmax(scores, dim=3) @ v
        return out.transpose(1, 2).contiguous().view(b, s, d)
