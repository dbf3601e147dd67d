import math
import torch
import torch.nn as nn


def my_softmax(z):
    e = torch.exp(z)
    return e / torch.sum(e, dim=-1, keepdim=True)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        w = my_softmax(self.query_proj(x) @ self.key_proj(x).transpose(-2, -1) / math.sqrt(self.hidden_dim))
        return w @ self.value_proj(x)
