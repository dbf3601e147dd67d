import torch


def expand_mask(padding_mask):
    return padding_mask.unsqueeze(1).expand(2, padding_mask.size(1), padding_mask.size(1))
