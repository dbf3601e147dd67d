import torch


def expand_mask(padding_mask: torch.Tensor) -> torch.Tensor:
    """What each query may see, when padding is all that is hidden.

    padding_mask: (batch, seq_len); 1 or True = a real token, 0 or False = padding
    returns:      (batch, seq_len, seq_len); [b, i, j] is nonzero where query i of sample b may see key j
    """
    raise NotImplementedError("expand_mask is still a blank page.")
