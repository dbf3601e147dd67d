import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim

    def forward(self, x):
        d = x.shape[-1]
        query_proj = nn.Linear(d, d)
        key_proj = nn.Linear(d, d)
        value_proj = nn.Linear(d, d)
        q, k, v = query_proj(x), key_proj(x), value_proj(x)
        return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1) @ v
