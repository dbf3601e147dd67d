import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.double()  # weights in float64

    def forward(self, x):
        dtype = x.dtype
        x = x.to(self.query_proj.weight.dtype)
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        out = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
        return out.to(dtype)
