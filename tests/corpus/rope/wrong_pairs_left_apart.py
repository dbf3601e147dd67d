import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    inv = (1.0 / base ** (torch.arange(0, d, 2) / d)).to(x.dtype)
    ang = positions.to(x.dtype)[..., None] * inv
    if ang.dim() == 3:
        ang = ang[:, None]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * ang.cos() - b * ang.sin(), b * ang.cos() + a * ang.sin()), -1)
