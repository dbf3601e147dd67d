import torch


def keys_only(mask, length):
    return torch.broadcast_to(mask, (mask.shape[0], length, mask.shape[-1]))


def expand_mask(mask: torch.Tensor) -> torch.Tensor:
    return keys_only(mask[:, None], mask.shape[1])
