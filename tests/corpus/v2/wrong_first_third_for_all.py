import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        h = self.hidden_dim
        qkv = self.proj(x)
        q = qkv[:, :, :h]
        k = qkv[:, :, :h]
        v = qkv[:, :, :h]
        attn = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(h), dim=-1)
        return torch.bmm(attn, v)
