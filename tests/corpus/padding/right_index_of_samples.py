import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    which = torch.arange(batch).repeat_interleave(seq_len)
    return padding_mask[which].reshape(batch, seq_len, seq_len)
