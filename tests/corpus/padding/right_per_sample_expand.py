import torch


def expand_mask(padding_mask):
    return torch.stack([row.expand(len(row), -1) for row in padding_mask])
