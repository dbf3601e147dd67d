import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.query_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)

    def forward(self, x):
        k = self.key_proj(x)
        v = self.value_proj(x)
        x *= self.scale
        q = self.query_proj(x)
        return torch.softmax(q @ k.transpose(1, 2), dim=-1) @ v
