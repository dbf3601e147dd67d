"""Level 1: the formula. Fill in the TODOs from top to bottom and delete each `raise` as you go."""

import math

import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """Single-head self-attention: softmax(QKᵀ / √hidden_dim) V.

    x:       (batch, seq_len, hidden_dim)
    returns: (batch, seq_len, hidden_dim)
    """

    def __init__(self, hidden_dim: int = 728) -> None:
        # TODO 1 of 5: set up the module: three linear layers, query_proj, key_proj and value_proj.
        raise NotImplementedError("TODO 1 of 5: set up the module with query_proj, key_proj and value_proj.")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # TODO 2 of 5: make query, key and value from x, each (batch, seq_len, hidden_dim).
        raise NotImplementedError("TODO 2 of 5: make query, key and value from x.")

        # TODO 3 of 5: score every query against every key, (batch, seq_len, seq_len), and scale.
        raise NotImplementedError("TODO 3 of 5: score every query against every key, and scale.")

        # TODO 4 of 5: turn the scores into attention weights. Each query's weights sum to 1.
        raise NotImplementedError("TODO 4 of 5: turn the scores into attention weights.")

        # TODO 5 of 5: mix the values with the weights and return (batch, seq_len, hidden_dim).
        raise NotImplementedError("TODO 5 of 5: mix the values with the weights and return the result.")
