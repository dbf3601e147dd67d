import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    visible = padding_mask.eq(0)
    return visible[:, None].expand(batch, seq_len, seq_len)
