import torch
from torch import nn


class QKV(nn.Linear):
    """A linear layer whose output comes in three parts."""

    def __init__(self, dim):
        super().__init__(dim, 3 * dim)

    def forward(self, x):
        return super().forward(x).chunk(3, dim=-1)


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = QKV(hidden_dim)
        self.inv_sqrt = 1 / hidden_dim**0.5

    def forward(self, x):
        query, key, value = self.proj(x)
        energy = torch.einsum("b i d, b j d -> b i j", query, key) * self.inv_sqrt
        return torch.einsum("b i j, b j d -> b i d", energy.softmax(-1), value)
