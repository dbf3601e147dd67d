import torch
from torch import Tensor


def _freqs(dim: int, base: float) -> Tensor:
    return torch.logspace(0.0, -1.0, dim // 2, base=base, dtype=torch.float64)


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    moved = x.transpose(1, 2).double()  # (batch, seq_len, heads, head_dim)
    if positions.dim() == 1:
        positions = positions.expand(x.size(0), -1)
    ang = (positions[:, :, None] * _freqs(x.size(-1), base))[:, :, None, :]
    first, second = moved.tensor_split(2, dim=-1)
    c, s = ang.cos(), ang.sin()
    return torch.cat((first * c - second * s, second * c + first * s), -1).transpose(1, 2).to(x.dtype)
