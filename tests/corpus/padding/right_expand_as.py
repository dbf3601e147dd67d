import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    like = torch.empty(batch, seq_len, seq_len)
    return padding_mask.unsqueeze(1).expand_as(like)
