import math

import torch
import torch.nn.functional as F
from torch import nn


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """(batch, seq_len, hidden_dim) to (batch, num_heads, seq_len, head_dim)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def join_heads(x: torch.Tensor) -> torch.Tensor:
    """The way back."""
    return x.transpose(1, 2).flatten(2)


def compare(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """One row of scores for each query, in each head."""
    return queries @ keys.transpose(-2, -1) / math.sqrt(keys.size(-1))


def hide(scores: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Push down what the mask does not show."""
    if mask is None:
        return scores
    return scores.masked_fill(mask.logical_not().unsqueeze(-3), torch.finfo(scores.dtype).min)


def share(x: torch.Tensor, times: int) -> torch.Tensor:
    """Every head so many times in a row."""
    return torch.stack([x] * times, dim=2).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, num_kv_heads: int = 4, dropout_rate: float = 0.0
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.dropout_rate = dropout_rate
        self.q_proj = nn.Linear(hidden_dim, hidden_dim)
        self.k_proj = nn.Linear(hidden_dim, hidden_dim // num_heads * num_kv_heads)
        self.v_proj = nn.Linear(hidden_dim, hidden_dim // num_heads * num_kv_heads)
        self.o_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        q = split_heads(self.q_proj(x), self.num_heads)
        k = split_heads(self.k_proj(x), self.num_kv_heads)
        v = split_heads(self.v_proj(x), self.num_kv_heads)
        times = self.num_heads // self.num_kv_heads
        k, v = share(k, times), share(v, times)
        scores = hide(compare(q, k), attention_mask)
        probs = F.softmax(scores, dim=-1)  # rows sum to one
        probs = F.dropout(probs, self.dropout_rate, self.training)
        y = probs @ v
        return self.o_proj(join_heads(y))
