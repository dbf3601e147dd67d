import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728, num_heads=2):
        super().__init__()
        self.h = num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = (p(x).view(b, s, self.h, d // self.h).transpose(1, 2) for p in (self.query_proj, self.key_proj, self.value_proj))
        w = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(d // self.h), dim=-1)
        return (w @ v).transpose(1, 2).reshape(b, s, d)
