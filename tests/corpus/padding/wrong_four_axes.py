import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return padding_mask[:, None, None, :].expand(batch, 1, seq_len, seq_len)
