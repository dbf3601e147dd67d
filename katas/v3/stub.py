"""Level 3: mask, dropout, output projection. Fill in the four TODOs and delete each `raise`."""

import math

import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    """Single-head self-attention with a mask, dropout on the attention weights and an output projection.

    x:              (batch, seq_len, hidden_dim)
    attention_mask: None, or broadcastable to (batch, seq_len, seq_len); 0 or False = hidden
    returns:        (batch, seq_len, hidden_dim)
    """

    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        # TODO 1 of 4: two more layers: attention_dropout and output_proj.
        raise NotImplementedError("TODO 1 of 4: create attention_dropout and output_proj.")

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        query = self.query_proj(x)  # (batch, seq_len, hidden_dim)
        key = self.key_proj(x)  # (batch, seq_len, hidden_dim)
        value = self.value_proj(x)  # (batch, seq_len, hidden_dim)
        scores = query @ key.transpose(-2, -1)  # (batch, seq_len, seq_len)

        # The next three lines of code are level 1. The mask and the dropout belong somewhere among them:
        # finding the right place is the task.
        #
        # TODO 2 of 4: hide the keys where attention_mask is 0. None hides nothing.
        raise NotImplementedError("TODO 2 of 4: hide the keys where attention_mask is 0.")
        # TODO 3 of 4: apply the dropout.
        raise NotImplementedError("TODO 3 of 4: apply attention_dropout in the right place.")

        scores = scores / math.sqrt(self.hidden_dim)  # (batch, seq_len, seq_len)
        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)
        mixed = weights @ value  # (batch, seq_len, hidden_dim)

        # TODO 4 of 4: the output projection, and return (batch, seq_len, hidden_dim).
        raise NotImplementedError("TODO 4 of 4: apply output_proj and return the result.")
