"""q·k = x Wqᵀ Wk xᵀ, so precompute the bilinear form; values are projected after mixing."""
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.hidden_dim = hidden_dim

    def forward(self, x):
        form = self.query_proj.weight.T @ self.key_proj.weight  # (D, D)
        form = form / self.hidden_dim**0.5
        scores = x @ form @ x.mT  # (B, S, S)
        weights = scores.softmax(dim=-1)
        return self.value_proj(weights @ x)
