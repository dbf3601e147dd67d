import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.h = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        q, k, v = self.proj(x).split([self.h, self.h, self.h], dim=-1)
        a = torch.softmax(q @ k.transpose(1, 2) / self.h ** 0.5, dim=-2)
        return a @ v
