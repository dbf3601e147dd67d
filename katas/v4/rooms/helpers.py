import math

import torch
import torch.nn.functional as F
from torch import nn


def compare(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """(batch, seq_len, hidden_dim) twice to (batch, seq_len, seq_len)."""
    return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(keys.size(-1))


def hide(scores: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Push down what the mask does not show."""
    if mask is None:
        return scores
    return scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.dropout_rate = dropout_rate
        self.q_proj = nn.Linear(hidden_dim, hidden_dim)
        self.k_proj = nn.Linear(hidden_dim, hidden_dim)
        self.v_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        q = self.q_proj(x)
        k = self.k_proj(x)
        v = self.v_proj(x)
        scores = hide(compare(q, k), attention_mask)
        probs = F.softmax(scores, dim=-1)  # rows sum to one
        probs = F.dropout(probs, self.dropout_rate, self.training)
        return torch.bmm(probs, v)
