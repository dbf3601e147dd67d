import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.d = hidden_dim
        self.W_q, self.W_k, self.W_v = (nn.Linear(hidden_dim, hidden_dim) for _ in range(3))

    def forward(self, x):
        e = (self.W_q(x) @ self.W_k(x).mT).div(self.d ** 0.5).exp()
        z = e.sum(1, keepdim=True)
        return (e / z) @ self.W_v(x)
