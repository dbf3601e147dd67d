import torch


class RotaryTable:
    """Rows 0 … length - 1 of cosines and sines, looked up by position."""

    def __init__(self, length, head_dim, base):
        powers = -2 * torch.arange(1, head_dim // 2 + 1, dtype=torch.float32) / head_dim
        angles = torch.outer(torch.arange(length).float(), torch.pow(torch.tensor(float(base)), powers))
        self.cos, self.sin = angles.cos(), angles.sin()

    def __call__(self, positions):
        return self.cos[positions], self.sin[positions]


def apply_rope(x, positions, base=10000.0):
    table = RotaryTable(int(positions.max()) + 1, x.size(-1), base)
    cos, sin = table(positions)
    if positions.ndim > 1:
        cos, sin = cos.unsqueeze(-3), sin.unsqueeze(-3)
    left, right = torch.split(x.to(torch.float32), x.size(-1) // 2, dim=-1)
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    out[..., : x.size(-1) // 2] = left * cos - right * sin
    out[..., x.size(-1) // 2 :] = right * cos + left * sin
    return out.to(x)
