"""Multi-head attention. Fill in the five TODOs and delete each `raise`."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """num_heads attentions side by side, each over head_dim = hidden_dim / num_heads features.

    x:              (batch, seq_len, hidden_dim)
    attention_mask: None, (batch, seq_len, seq_len), (1, seq_len, seq_len) or (batch, 1, seq_len); 0 = hidden
    returns:        (batch, seq_len, hidden_dim)
    """

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """Cut (batch, seq_len, hidden_dim) into heads."""
        # TODO 1 of 5: return (batch, num_heads, seq_len, head_dim). Each head gets features, of every token.
        raise NotImplementedError("TODO 1 of 5: cut the features into heads, in front of the positions.")

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        query = self.split(self.query_proj(x))  # (batch, num_heads, seq_len, head_dim)
        key = self.split(self.key_proj(x))  # (batch, num_heads, seq_len, head_dim)
        value = self.split(self.value_proj(x))  # (batch, num_heads, seq_len, head_dim)

        # TODO 2 of 5: score every query against every key of the same head, and scale.
        raise NotImplementedError("TODO 2 of 5: score queries against keys head by head, and scale.")

        # TODO 3 of 5: hide the keys where attention_mask is 0, in every head. None hides nothing.
        raise NotImplementedError("TODO 3 of 5: hide the keys where attention_mask is 0, in every head.")

        # TODO 4 of 5: weights, attention_dropout and the mix of the values, head by head.
        raise NotImplementedError("TODO 4 of 5: make the weights, drop, and mix the values of each head.")

        # TODO 5 of 5: join the heads to (batch, seq_len, hidden_dim), apply output_proj and return.
        raise NotImplementedError("TODO 5 of 5: join the heads, apply output_proj and return the result.")
