import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return padding_mask.unsqueeze(1).repeat(1, seq_len, 1).squeeze()
