import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.proj(x).chunk(3, dim=-1)
        attn = q @ k.reshape(b, d, s)
        attn = (attn / d ** 0.5).softmax(dim=-1)
        return attn @ v
