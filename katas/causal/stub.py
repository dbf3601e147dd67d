"""Causal multi-head attention. Fill in the three TODOs and delete each `raise`."""

import math

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    """Multi-head self-attention in which position i sees the positions 0 to i.

    x:       (batch, seq_len, hidden_dim), seq_len up to max_seq_len
    returns: (batch, seq_len, hidden_dim)
    """

    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, max_seq_len: int = 1024, dropout_rate: float = 0.1
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        # TODO 1 of 3: prepare what says which positions are later than which. It is no parameter, and it has
        # to move to another device with the module. If you would rather make it in forward, say so here.
        raise NotImplementedError("TODO 1 of 3: prepare the causal mask, up to max_seq_len.")

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """(batch, seq_len, hidden_dim) to (batch, num_heads, seq_len, head_dim)."""
        batch, seq_len, _ = projected.shape
        return projected.view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)

    def join(self, mixed: torch.Tensor) -> torch.Tensor:
        """The heads side by side, (batch, seq_len, hidden_dim), through the output projection."""
        return self.output_proj(mixed.transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(x))  # (batch, num_heads, seq_len, head_dim)
        value = self.split(self.value_proj(x))  # (batch, num_heads, seq_len, head_dim)
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)

        # TODO 2 of 3: hide every key that is later than its query, for the length of this x.
        raise NotImplementedError("TODO 2 of 3: hide every key that is later than its query.")

        # TODO 3 of 3: weights, attention_dropout and the mix of the values; return what `join` makes of it.
        raise NotImplementedError("TODO 3 of 3: make the weights, drop, mix the values and join the heads.")
