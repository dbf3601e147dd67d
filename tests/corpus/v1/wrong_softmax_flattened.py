import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.hidden_dim = hidden_dim

    def forward(self, x):
        b, s, _ = x.shape
        scores = torch.einsum("bqd,bkd->bqk", self.query_proj(x), self.key_proj(x)) / self.hidden_dim ** 0.5
        probs = torch.softmax(scores.reshape(b, s * s), dim=-1).reshape(b, s, s)
        return torch.einsum("bqk,bkd->bqd", probs, self.value_proj(x))
