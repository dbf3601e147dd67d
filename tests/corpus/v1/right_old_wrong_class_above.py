import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    # first try, forgot the softmax
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return self.q(x) @ self.k(x).transpose(1, 2) @ self.v(x)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.hidden_dim)
        return torch.softmax(scores, dim=-1) @ self.v(x)
