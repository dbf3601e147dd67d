import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        w = torch.softmax(self.q(x) @ self.k(x).transpose(1, 2) / self.hidden_dim ** 0.5, dim=1)
        return w @ self.v(x)
