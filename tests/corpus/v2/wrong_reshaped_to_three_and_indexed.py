import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        qkv = self.proj(x)
        b, s, d = x.size()
        parts = qkv.reshape(3, b, s, d)
        q, k, v = parts[0], parts[1], parts[2]
        att = torch.matmul(q, k.transpose(1, 2))
        att = att / self.dim ** 0.5
        att = torch.softmax(att, dim=-1)
        return torch.matmul(att, v)
