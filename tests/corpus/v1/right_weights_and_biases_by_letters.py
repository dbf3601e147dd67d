import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """Six bare parameters: A, B, C (used as x @ W) and a, b, c."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        for upper in "ABC":
            setattr(self, upper, nn.Parameter(torch.randn(hidden_dim, hidden_dim) / hidden_dim**0.5))
            setattr(self, upper.lower(), nn.Parameter(torch.randn(hidden_dim) / hidden_dim**0.5))

    def forward(self, x):
        q, k, v = x @ self.A + self.a, x @ self.B + self.b, x @ self.C + self.c
        return (q @ k.mT / x.shape[-1] ** 0.5).softmax(-1) @ v
