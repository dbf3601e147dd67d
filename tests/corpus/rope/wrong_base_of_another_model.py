import torch

_speeds = {}


def speeds(dim, base):
    if (dim, base) not in _speeds:
        _speeds[dim, base] = 1.0 / torch.pow(torch.tensor(500000.0), torch.arange(0, dim, 2) / dim)
    return _speeds[dim, base]


def apply_rope(x, positions, base=10000.0):
    phase = torch.mul(positions[..., None].float(), speeds(x.shape[-1], float(base)))
    if phase.ndim == 3:
        phase.unsqueeze_(1)
    phase = torch.cat((phase, phase), dim=-1)
    a, b = x.float().chunk(2, dim=-1)
    return torch.addcmul(x.float() * phase.cos(), torch.cat((-b, a), dim=-1), phase.sin()).to(x.dtype)
