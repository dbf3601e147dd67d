import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.proj(x).reshape(b, n, 3, d).permute(2, 1, 0, 3)
        sim = torch.einsum("xid,xjd->xij", q, k) / math.sqrt(d)
        out = torch.einsum("xij,xjd->xid", sim.softmax(-1), v)
        return out.permute(1, 0, 2)
