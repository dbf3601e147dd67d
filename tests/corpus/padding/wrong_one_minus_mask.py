import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return (1 - padding_mask.int()).unsqueeze(1).expand(batch, seq_len, seq_len)
