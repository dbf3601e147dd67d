import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    out = torch.zeros(batch, seq_len, seq_len)
    return out.masked_fill(padding_mask.unsqueeze(1), 1.0)
