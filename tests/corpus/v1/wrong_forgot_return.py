import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        Q, K, V = self.q(x), self.k(x), self.v(x)
        w = torch.softmax(Q @ K.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1)
        out = w @ V
