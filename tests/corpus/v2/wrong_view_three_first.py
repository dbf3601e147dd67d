import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.qkv = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(x).view(3, b, s, d)
        attn = (q @ k.transpose(-2, -1) / d ** 0.5).softmax(dim=-1)
        return attn @ v
