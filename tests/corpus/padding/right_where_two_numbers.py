import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    full = padding_mask.view(batch, 1, seq_len).repeat(1, seq_len, 1)
    return torch.where(full == 0, 0, 7)
