import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        k = k.permute(0, -1, 2)
        s = torch.bmm(q, k) / self.hidden_dim ** 0.5
        return torch.bmm(s.softmax(-1), v)
