"""Rotary position embedding (Su et al. 2021), with the halves of a head as pairs."""

import torch


def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Each pair of features of x, (batch, num_heads, seq_len, head_dim), turned by its angle."""
    head_dim = x.shape[-1]
    exponents = torch.arange(0, head_dim, 2, device=x.device, dtype=torch.float32) / head_dim  # (head_dim/2)
    # In float32 whatever x is: a large position times a frequency needs the digits.
    angles = positions.unsqueeze(-1).float() * base**-exponents  # (..., seq_len, head_dim/2)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)  # (batch, 1, seq_len, head_dim/2): one axis for all heads
    cos, sin = angles.cos(), angles.sin()

    first, second = x.float().chunk(2, dim=-1)  # pair i is (first[i], second[i])
    turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned.to(x.dtype)  # (batch, num_heads, seq_len, head_dim)
