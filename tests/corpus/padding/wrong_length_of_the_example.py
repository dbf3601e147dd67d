import torch


def expand_mask(padding_mask):
    return padding_mask.unsqueeze(1).repeat(1, 5, 1)
