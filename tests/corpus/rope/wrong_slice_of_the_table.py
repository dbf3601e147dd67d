import torch


class RotaryTable:
    """Rows 0 … length - 1 of cosines and sines, looked up by position."""

    def __init__(self, length, head_dim, base):
        powers = -2 * torch.arange(head_dim // 2, dtype=torch.float32) / head_dim
        angles = torch.outer(torch.arange(length).float(), torch.pow(torch.tensor(float(base)), powers))
        self.cos, self.sin = angles.cos(), angles.sin()

    def __call__(self, positions):
        return self.cos[: positions.size(-1)], self.sin[: positions.size(-1)]


def apply_rope(x, positions, base=10000.0):
    table = RotaryTable(8192, x.size(-1), base)
    cos, sin = table(positions)
    left, right = torch.split(x.to(torch.float32), x.size(-1) // 2, dim=-1)
    out = torch.empty(x.shape, dtype=torch.float32, device=x.device)
    out[..., : x.size(-1) // 2] = left * cos - right * sin
    out[..., x.size(-1) // 2 :] = right * cos + left * sin
    return out.to(x)
