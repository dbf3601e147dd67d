import math
import torch
import torch.nn as nn


def scaled_dot_product(q, k, v):
    logits = k @ q.transpose(-2, -1)
    logits = logits / math.sqrt(q.size(-1))
    attention = torch.softmax(logits, dim=-1)
    return attention @ v


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return scaled_dot_product(self.query_proj(x), self.key_proj(x), self.value_proj(x))
