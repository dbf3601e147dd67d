import torch


def expand_mask(padding_mask):
    return torch.stack([padding_mask] * padding_mask.shape[1], dim=1)
