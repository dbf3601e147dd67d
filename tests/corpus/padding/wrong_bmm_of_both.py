import torch


def expand_mask(padding_mask):
    m = padding_mask.float()
    return torch.bmm(m.unsqueeze(2), m.unsqueeze(1))
