import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    ones = torch.ones(batch, seq_len, seq_len, dtype=torch.bool)
    return ones & padding_mask.unsqueeze(1)
