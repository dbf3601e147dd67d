import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        # size of one part
        self.part = self.proj.in_features / 3

    def forward(self, x):
        query, key, value = self.proj(x).chunk(3, dim=-1)
        weights = torch.softmax(query @ key.transpose(-2, -1) / self.part ** 0.5, dim=-1)
        return weights @ value
