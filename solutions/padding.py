"""A padding mask, grown to one row a query."""

import torch


def expand_mask(padding_mask: torch.Tensor) -> torch.Tensor:
    """(batch, seq_len), nonzero = a real token, to (batch, seq_len, seq_len), nonzero = visible."""
    batch, seq_len = padding_mask.shape
    # The new axis stands where the queries are: every query of a sample reads the same row of keys.
    keys = padding_mask.unsqueeze(1)  # (batch, 1, seq_len)
    return keys.expand(batch, seq_len, seq_len)  # (batch, seq_len, seq_len), a view
