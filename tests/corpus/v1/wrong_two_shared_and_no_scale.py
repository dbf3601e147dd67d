import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q = self.query_proj(x)
        k = self.query_proj(x)
        v = self.query_proj(x)
        w = F.softmax(q @ k.transpose(1, 2), dim=2)
        return w @ v
