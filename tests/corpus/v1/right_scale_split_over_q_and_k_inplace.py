import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.fourth_root = hidden_dim ** -0.25

    def forward(self, x):
        q = self.query_proj(x).mul_(self.fourth_root)
        k = self.key_proj(x).mul_(self.fourth_root)
        return torch.bmm(torch.bmm(q, k.mT).softmax(-1), self.value_proj(x))
