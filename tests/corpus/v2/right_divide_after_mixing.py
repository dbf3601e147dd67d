import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        s = torch.matmul(q, k.transpose(1, 2)).div_(self.hidden_dim ** 0.5)
        e = torch.exp(s - s.max())
        return torch.matmul(e, v) / e.sum(dim=2, keepdim=True)
