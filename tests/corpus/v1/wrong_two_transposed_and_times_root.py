import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query = nn.Linear(hidden_dim, hidden_dim)
        self.key = nn.Linear(hidden_dim, hidden_dim)
        self.value = nn.Linear(hidden_dim, hidden_dim)
        self.dim = hidden_dim

    def forward(self, x):
        s = torch.einsum('bid,bjd->bij', self.query(x), self.key(x)) * self.dim ** 0.5
        w = s.softmax(-1)
        return torch.einsum('bij,bid->bjd', w, self.value(x))
