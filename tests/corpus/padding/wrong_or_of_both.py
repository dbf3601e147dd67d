import torch


def expand_mask(padding_mask):
    m = padding_mask.bool()
    return m.unsqueeze(1) | m.unsqueeze(2)
