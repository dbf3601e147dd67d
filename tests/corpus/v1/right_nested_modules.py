import math
import torch
from torch import nn


class Projections(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        return self.query(x), self.key(x), self.value(x)


class ScaledDotProduct(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)
        self.dim = dim

    def forward(self, q, k, v):
        return self.softmax(q.bmm(k.transpose(1, 2)) / math.sqrt(self.dim)).bmm(v)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.projections = Projections(hidden_dim)
        self.core = ScaledDotProduct(hidden_dim)

    def forward(self, x):
        return self.core(*self.projections(x))
