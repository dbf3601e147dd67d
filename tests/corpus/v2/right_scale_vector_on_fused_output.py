import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    """Multiplies [1/sqrt(d)]*d + [1]*2d into the fused output, so that only q is scaled."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        gains = torch.ones(3, hidden_dim)
        gains[0] = hidden_dim**-0.5
        self.register_buffer("gains", gains.flatten(), persistent=False)

    def forward(self, x):
        q, k, v = (self.proj(x) * self.gains).split(x.shape[-1], -1)
        return torch.softmax(q.matmul(k.mT), dim=-1).matmul(v)
