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

    def forward(self, x):
        s = self.query_proj(x) @ self.key_proj(x).transpose(1, 2) / math.sqrt(self.hidden_dim)
        w = torch.exp(s - s.max(dim=-1, keepdim=True)[0])
        w /= w.sum(dim=-1, keepdim=True)
        return w @ self.value_proj(x)
