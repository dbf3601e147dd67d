import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj, self.key_proj, self.value_proj = (nn.Linear(hidden_dim, hidden_dim) for _ in range(3))

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        s = torch.matmul(q, k.mT) / (x.shape[2] ** (1 / 2))
        e = torch.exp(s - s.amax(dim=-1, keepdim=True).detach())
        w = F.normalize(e, p=1, dim=-1)  # L1 norm: the row sums to 1
        return w @ v
