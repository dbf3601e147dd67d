import torch
from torch import nn


def soft_max(s):
    """p_j = 1 / sum_k exp(s_k - s_j)"""
    gap = s.unsqueeze(-2) - s.unsqueeze(-1)  # (..., j, k) = s_k - s_j
    return gap.exp().sum(-1).reciprocal()


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        nn.Module.__init__(self)
        self.hidden_dim = hidden_dim
        for role in ("query", "key", "value"):
            self.add_module(f"{role}_proj", nn.Linear(hidden_dim, hidden_dim))

    def forward(self, x):
        q = self.query_proj(x) * torch.rsqrt(torch.tensor(float(self.hidden_dim), device=x.device))
        return soft_max(q @ self.key_proj(x).swapdims(1, 2)) @ self.value_proj(x)
