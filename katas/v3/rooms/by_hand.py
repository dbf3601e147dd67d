import math

import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    """softmax(q kᵀ / √d) v, with the softmax written out."""

    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.d = hidden_dim
        self.in_proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.out_proj = nn.Linear(hidden_dim, hidden_dim)
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        packed = self.in_proj(x)  # (batch, tokens, 3 * d)
        q = packed[..., : self.d]
        k = packed[..., self.d : 2 * self.d]
        v = packed[..., 2 * self.d :]

        s = (q.unsqueeze(2) * k.unsqueeze(1)).sum(dim=-1)  # (batch, tokens, tokens)
        s = s / math.sqrt(self.d)
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)

        e = torch.exp(s - s.amax(dim=-1, keepdim=True))
        p = e / e.sum(dim=-1, keepdim=True)  # (batch, tokens, tokens)
        p = self.dropout(p)
        return self.out_proj(p @ v)
