import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    freq = base ** -(torch.arange(half, dtype=torch.float32) / half)
    phi = positions.float().unsqueeze(-1) * freq
    phi = phi if phi.dim() == 2 else phi.unsqueeze(1)
    new = x.clone()
    new[..., :half] = x[..., :half] * phi.cos() - x[..., half:] * phi.sin()
    new[..., half:] = x[..., half:] * phi.cos() + x[..., :half] * phi.sin()
    return new
