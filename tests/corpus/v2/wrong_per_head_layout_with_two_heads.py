import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.h = 2
        self.dh = hidden_dim // 2
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        B, T, C = x.shape
        packed = self.proj(x).view(B, T, self.h, 3, self.dh)
        q = packed[:, :, :, 0].reshape(B, T, C)
        k = packed[:, :, :, 1].reshape(B, T, C)
        v = packed[:, :, :, 2].reshape(B, T, C)
        w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(C), dim=-1)
        return w @ v
