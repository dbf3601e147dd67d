import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.scale = hidden_dim ** -0.5
        self.to_qkv = nn.Linear(hidden_dim, hidden_dim * 3, bias=False)

    def forward(self, x):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q = q * self.scale
        sim = torch.einsum('bid,bjd->bij', q, k) * self.scale
        return torch.einsum('bij,bjd->bid', sim.softmax(dim=-1), v)
