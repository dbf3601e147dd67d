import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    """Single-head self-attention with a mask and dropout on the attention weights, no output projection.

    x:              (batch, seq_len, hidden_dim)
    attention_mask: None, or broadcastable to (batch, seq_len, seq_len); 0 or False = hidden
    returns:        (batch, seq_len, hidden_dim)
    """

    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        raise NotImplementedError("__init__ is still a blank page.")

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        raise NotImplementedError("forward is still a blank page.")
