import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.in_proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        q, k, v = self.in_proj(x).tensor_split(3, dim=-1)
        weights = torch.softmax(q @ k.mT * k.shape[-2] ** -0.5, dim=-1)
        return weights @ v
