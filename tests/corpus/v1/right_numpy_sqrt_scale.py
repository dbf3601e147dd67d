import numpy as np
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.norm_fact = 1 / np.sqrt(hidden_dim)

    def forward(self, x):
        Q = self.query_proj(x)  # [B, S, D]
        K = self.key_proj(x)  # [B, S, D]
        V = self.value_proj(x)  # [B, S, D]
        atten = nn.Softmax(dim=-1)(torch.bmm(Q, K.permute(0, 2, 1)) * self.norm_fact)  # [B, S, S]
        output = torch.bmm(atten, V)
        return output
