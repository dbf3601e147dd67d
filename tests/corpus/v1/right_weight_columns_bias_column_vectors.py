import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """Column-vector convention: q = W x + b with x as (D, S) and b as (D, 1)."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        s = hidden_dim**-0.5
        self.Wq = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * s)
        self.Wk = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * s)
        self.Wv = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * s)
        self.bq = nn.Parameter(torch.randn(hidden_dim, 1) * s)
        self.bk = nn.Parameter(torch.randn(hidden_dim, 1) * s)
        self.bv = nn.Parameter(torch.randn(hidden_dim, 1) * s)

    def forward(self, x):
        X = x.mT
        Q, K, V = self.Wq @ X + self.bq, self.Wk @ X + self.bk, self.Wv @ X + self.bv  # (B, D, S)
        A = torch.softmax(K.mT @ Q / X.shape[1] ** 0.5, dim=1)  # columns are distributions
        return (V @ A).mT
