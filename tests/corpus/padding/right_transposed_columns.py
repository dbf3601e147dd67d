import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    columns = padding_mask.unsqueeze(2).expand(batch, seq_len, seq_len)
    return columns.transpose(1, 2)
