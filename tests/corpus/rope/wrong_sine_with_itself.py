import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    position = positions if positions.dim() == 1 else positions.unsqueeze(1)
    columns = [None] * d
    for i in range(0, d, 2):
        theta = position / base ** (i / d)
        a, b = x[..., i].float(), x[..., i + 1].float()
        columns[i] = a * theta.cos() - a * theta.sin()
        columns[i + 1] = b * theta.cos() + a * theta.sin()
    return torch.stack(columns, -1).to(x.dtype)
