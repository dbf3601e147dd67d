import torch


def expand_mask(padding_mask):
    batch, seq_len = padding_mask.shape
    place = torch.arange(seq_len)
    last = ((padding_mask != 0) * place).amax(1)
    return (place <= last[:, None])[:, None].expand(batch, seq_len, seq_len)
