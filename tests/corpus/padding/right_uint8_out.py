import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    out = torch.empty(batch, seq_len, seq_len, dtype=torch.uint8)
    out[:] = padding_mask[:, None]
    return out
