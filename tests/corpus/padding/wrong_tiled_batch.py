import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return padding_mask.repeat(seq_len, 1).reshape(batch, seq_len, seq_len)
