import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return torch.ones(batch, seq_len, seq_len)
