import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.c = hidden_dim ** 0.5
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        # columns instead of rows: scores[k, q], normalised over k
        scores_t = self.key_proj(x) @ self.query_proj(x).mT / self.c
        p_t = scores_t.softmax(dim=-2)
        return (self.value_proj(x).mT @ p_t).mT
