import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728)
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return self.query_proj(x)
