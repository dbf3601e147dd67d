import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    real = (padding_mask != 0).sum(-1)
    keys = torch.arange(seq_len).expand(batch, seq_len, seq_len)
    return keys < real.view(batch, 1, 1)
