import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.d = hidden_dim
        self.vkq = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        y = self.vkq(x)
        v, k, q = y[..., :self.d], y[..., self.d:-self.d], y[..., -self.d:]
        s = torch.einsum('bqd,bkd->bqk', q, k) / math.sqrt(self.d)
        return torch.einsum('bqk,bkd->bqd', s.softmax(dim=-1), v)
