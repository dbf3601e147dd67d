import torch


def expand_mask(padding_mask):
    m = padding_mask.float()
    return torch.einsum("bi,bj->bij", torch.ones_like(m), m)
