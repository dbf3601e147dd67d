import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return padding_mask[-1].repeat(batch, seq_len, 1)
