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
        raise NotImplementedError("__init__ is still a blank page.")

    def forward(
        self, x: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        raise NotImplementedError("forward is still a blank page.")
