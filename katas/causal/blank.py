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
        raise NotImplementedError("__init__ is still a blank page.")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError("forward is still a blank page.")
