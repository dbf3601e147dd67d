"""Rotary position embedding. Fill in the three TODOs and delete each `raise`."""

import torch


def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Turn each pair of features by position · base^(-2i/d).

    x:         (batch, num_heads, seq_len, head_dim), head_dim even
    positions: (seq_len,) or (batch, seq_len), integers
    base:      a number
    returns:   (batch, num_heads, seq_len, head_dim), in the dtype of x
    """
    # TODO 1 of 3: one frequency for each pair, base^(-2i/d) for i = 0 … d/2 - 1, in float32.
    raise NotImplementedError("TODO 1 of 3: make the frequencies, one for each pair.")

    # TODO 2 of 3: one angle for each position and pair. Positions of (batch, seq_len) need something more.
    raise NotImplementedError("TODO 2 of 3: make the angles, one for each position and pair.")

    # TODO 3 of 3: turn the pairs by their angles, in the pairing that you like, and return x's dtype.
    raise NotImplementedError("TODO 3 of 3: turn the pairs by their angles and return the result.")
