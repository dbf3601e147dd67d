import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    padding_mask.mul_(2)
    return padding_mask.unsqueeze(1).expand(batch, seq_len, seq_len)
