import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728, heads=2):
        super().__init__()
        self.heads = heads
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.proj(x).view(b, s, self.heads, 3, d // self.heads).permute(3, 0, 2, 1, 4)
        w = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(d // self.heads), dim=-1)
        return (w @ v).transpose(1, 2).reshape(b, s, d)
