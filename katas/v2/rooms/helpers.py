import math

import torch
import torch.nn.functional as F
from torch import nn


def compare(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """(batch, seq_len, hidden_dim) twice to (batch, seq_len, seq_len)."""
    return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(keys.size(-1))


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.c_attn = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.c_attn(x).split(x.size(-1), dim=2)
        scores = compare(q, k)
        probs = F.softmax(scores, dim=-1)  # rows sum to one
        return torch.bmm(probs, v)
