import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """num_heads attentions side by side, each over head_dim = hidden_dim / num_heads features.

    x:              (batch, seq_len, hidden_dim)
    attention_mask: None, (batch, seq_len, seq_len), (1, seq_len, seq_len) or (batch, 1, seq_len); 0 = hidden
    returns:        (batch, seq_len, hidden_dim)
    """

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12, dropout_rate: float = 0.1) -> None:
        raise NotImplementedError("__init__ is still a blank page.")

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        raise NotImplementedError("forward is still a blank page.")
