import math

import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    """softmax(q kᵀ / √d) v, with the softmax written out."""

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.d = hidden_dim
        self.in_proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        packed = self.in_proj(x)  # (batch, tokens, 3 * d)
        q = packed[..., : self.d]
        k = packed[..., self.d : 2 * self.d]
        v = packed[..., 2 * self.d :]

        s = (q.unsqueeze(2) * k.unsqueeze(1)).sum(dim=-1)  # (batch, tokens, tokens)
        s = s / math.sqrt(self.d)

        e = torch.exp(s - s.amax(dim=-1, keepdim=True))
        p = e / e.sum(dim=-1, keepdim=True)  # (batch, tokens, tokens)
        return p @ v  # (batch, tokens, d)
