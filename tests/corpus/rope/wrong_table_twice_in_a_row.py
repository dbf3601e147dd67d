import torch


def fixed_pos_embedding(positions, dim, base):
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, device=positions.device) / dim))
    return torch.einsum("...i,j->...ij", positions.float(), inv_freq)


def rotate_every_two(x):
    x1 = x[..., ::2]
    x2 = x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def apply_rope(x, positions, base=10000.0):
    sinusoid = fixed_pos_embedding(positions, x.shape[-1], base)
    sin = torch.cat((sinusoid.sin(), sinusoid.sin()), dim=-1)
    cos = torch.cat((sinusoid.cos(), sinusoid.cos()), dim=-1)
    if sin.dim() == 3:
        sin, cos = sin[:, None], cos[:, None]
    return (x * cos + rotate_every_two(x) * sin).to(x.dtype)
