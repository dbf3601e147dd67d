import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.in_proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        query, key, value = torch.chunk(self.in_proj(x), self.hidden_dim, dim=-1)
        scores = query @ key.transpose(-2, -1) / self.hidden_dim ** 0.5
        return scores.softmax(dim=-1) @ value
