import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        qkv = self.proj(x)
        q, k, v = qkv.chunk(3, dim=-1)
        scores = torch.matmul(q, v.transpose(-1, -2)) / math.sqrt(self.hidden_dim)
        attn = torch.softmax(scores, dim=-1)
        return torch.matmul(attn, v)
