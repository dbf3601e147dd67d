import math

import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    speed = torch.exp(-math.log(base) * torch.arange(half) / half)
    angle = positions.reshape(*positions.shape, 1) * speed
    if positions.dim() == 2:
        angle = angle[:, None, :, :]
    z = torch.complex(x[..., :half].float(), x[..., half:].float())
    z = z * torch.exp(1j * angle)
    return torch.view_as_real(z).flatten(-2).type(x.dtype)
