import torch

_speeds = {}


def speeds(dim, base):
    if (dim, base) not in _speeds:
        _speeds[dim, base] = 1.0 / torch.pow(torch.tensor(base), torch.arange(0, dim, 2) / dim)
    return _speeds[dim, base]


def apply_rope(x, positions, base=10000.0):
    phase = torch.mul(positions[..., None].float(), speeds(x.shape[-1], float(base)))
    if phase.ndim == 3:
        phase.unsqueeze_(1)
    phase = torch.cat((phase, phase), dim=-1)
    a, b = x.float().chunk(2, dim=-1)
    return torch.add(x.float(), torch.cat((phase[..., : x.shape[-1] // 2].sin(), phase[..., : x.shape[-1] // 2].cos()), dim=-1)).to(x.dtype)
