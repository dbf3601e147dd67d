import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    padding = padding_mask == 0
    return ~padding.unsqueeze(1).expand(batch, seq_len, seq_len)
