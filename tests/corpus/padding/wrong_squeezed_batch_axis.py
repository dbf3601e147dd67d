import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    return padding_mask[:, None].expand(batch, seq_len, seq_len).squeeze(0)
