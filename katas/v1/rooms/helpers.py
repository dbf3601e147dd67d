import math

import torch
import torch.nn.functional as F
from torch import nn


def compare(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """(batch, seq_len, hidden_dim) twice to (batch, seq_len, seq_len)."""
    return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(keys.size(-1))


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.q_proj = nn.Linear(hidden_dim, hidden_dim)
        self.k_proj = nn.Linear(hidden_dim, hidden_dim)
        self.v_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        scores = compare(q, k)
        probs = F.softmax(scores, dim=-1)  # rows sum to one
        return torch.bmm(probs, v)
