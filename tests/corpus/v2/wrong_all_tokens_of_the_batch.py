import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        b, s, d = x.size()
        tokens = x.reshape(-1, d)
        q, k, v = self.proj(tokens).chunk(3, dim=-1)
        attn = torch.softmax(q @ k.T / d ** 0.5, dim=-1)
        return (attn @ v).reshape(b, s, d)
