"""Warm-up: from a padding mask to an attention mask. Fill in the two TODOs and delete each `raise`."""

import torch


def expand_mask(padding_mask: torch.Tensor) -> torch.Tensor:
    """What each query may see, when padding is all that is hidden.

    padding_mask: (batch, seq_len); 1 or True = a real token, 0 or False = padding
    returns:      (batch, seq_len, seq_len); [b, i, j] is nonzero where query i of sample b may see key j
    """
    # TODO 1 of 2: give the mask an axis for the queries, in the right place.
    raise NotImplementedError("TODO 1 of 2: give the mask an axis for the queries.")

    # TODO 2 of 2: repeat it for each query and return (batch, seq_len, seq_len).
    raise NotImplementedError("TODO 2 of 2: repeat it for each query and return (batch, seq_len, seq_len).")
