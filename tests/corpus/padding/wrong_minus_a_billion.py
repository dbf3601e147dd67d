import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    hidden = (padding_mask == 0).float() * -1e9
    return hidden.unsqueeze(1).expand(batch, seq_len, seq_len)
