import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        self.scale = hidden_dim ** -0.5

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        attn = (q @ k.transpose(-2, -1)) * self.scale
        return attn.softmax(dim=-1) @ v
