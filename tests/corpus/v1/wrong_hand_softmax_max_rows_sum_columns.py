import math
import torch
from torch import nn


def stable_softmax(z):
    z = z - z.max(dim=-1, keepdim=True).values
    e = torch.exp(z)
    return e / e.sum(dim=1, keepdim=True)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.root = math.sqrt(hidden_dim)

    def forward(self, x):
        query = self.query_proj(x)
        key = self.key_proj(x)
        value = self.value_proj(x)
        scores = torch.bmm(query, key.transpose(1, 2)) / self.root
        return torch.bmm(stable_softmax(scores), value)
