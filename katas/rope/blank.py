import torch


def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Turn each pair of features by position · base^(-2i/d).

    x:         (batch, num_heads, seq_len, head_dim), head_dim even
    positions: (seq_len,) or (batch, seq_len), integers
    base:      a number
    returns:   (batch, num_heads, seq_len, head_dim), in the dtype of x
    """
    raise NotImplementedError("apply_rope is still a blank page.")
