import torch


def expand_mask(padding_mask):
    real = padding_mask != 0
    return real.unsqueeze(-2).expand(-1, real.shape[-1], -1)
