import torch


def expand_mask(padding_mask):
    return padding_mask[:, None, :]
