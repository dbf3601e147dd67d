"""Cross-attention. Fill in the three TODOs and delete each `raise`."""

import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    """Multi-head attention of x over a context: x asks, the context answers.

    x:            (batch, seq_len, hidden_dim)
    context:      (batch, context_len, context_dim)
    context_mask: None, or (batch, context_len); 0 or False = hidden
    returns:      (batch, seq_len, hidden_dim)
    """

    def __init__(
        self,
        hidden_dim: int = 768,
        num_heads: int = 12,
        context_dim: int | None = None,
        dropout_rate: float = 0.1,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        # TODO 1 of 3: query_proj, key_proj and value_proj. Which width does each of them read? Mind that
        # context_dim may be None.
        raise NotImplementedError("TODO 1 of 3: create query_proj, key_proj and value_proj.")
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """(batch, length, hidden_dim) to (batch, num_heads, length, head_dim)."""
        batch, length, _ = projected.shape
        return projected.view(batch, length, self.num_heads, self.head_dim).transpose(1, 2)

    def attend(self, scores: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Weights, dropout and mix of each head, joined to (batch, seq_len, hidden_dim) and projected."""
        weights = self.attention_dropout(torch.softmax(scores, dim=-1))
        mixed = weights @ value  # (batch, num_heads, seq_len, head_dim)
        return self.output_proj(mixed.transpose(1, 2).flatten(2))

    def forward(
        self, x: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        # TODO 2 of 3: make query, key and value, each from the right input, and the scaled scores.
        raise NotImplementedError("TODO 2 of 3: make query, key and value, and the scaled scores.")

        # TODO 3 of 3: hide the tokens of the context where context_mask is 0; None hides nothing. Return what
        # `attend` makes of the scores and the values.
        raise NotImplementedError("TODO 3 of 3: hide the context's tokens where context_mask is 0.")
