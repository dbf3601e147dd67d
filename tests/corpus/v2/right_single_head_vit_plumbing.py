import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728, heads=1):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden_dim, hidden_dim * 3, bias=True)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        out = attn.softmax(dim=-1) @ v
        return out.transpose(1, 2).reshape(b, n, c)
