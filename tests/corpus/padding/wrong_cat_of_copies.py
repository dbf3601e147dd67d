import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return torch.cat([padding_mask] * seq_len).view(batch, seq_len, seq_len)
