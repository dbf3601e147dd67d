import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    ones = torch.ones(batch, seq_len, 1)
    return ones @ padding_mask.float().unsqueeze(1)
