import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        s = torch.matmul(q, k.permute(2, 1, 0)) / self.hidden_dim ** 0.5
        return torch.matmul(s.softmax(-1), v)
