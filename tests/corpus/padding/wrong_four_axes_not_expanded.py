import torch


def expand_mask(padding_mask):
    return padding_mask.unsqueeze(1).unsqueeze(2)
