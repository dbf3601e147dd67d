import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q = self.query_proj(x)[:, :, None, :]
        k = self.key_proj(x)[:, None, :, :]
        v = self.value_proj(x)[:, None, :, :]
        w = ((q * k).sum(-1) / self.hidden_dim ** 0.5).softmax(-1)
        return (w.unsqueeze(-1) * v).sum(dim=2)
