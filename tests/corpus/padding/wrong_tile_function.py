import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return torch.tile(padding_mask, (seq_len, 1)).view(batch, seq_len, seq_len)
