import torch


def apply_rope(x, positions, base=10000.0):
    B, H, S, D = x.shape
    rows = positions if positions.dim() == 2 else positions[None]
    R = torch.zeros(rows.shape[0], S, D, D)
    for i in range(D // 2):
        phi = rows.float() * float(base) ** (-2 * i / D)
        R[..., 2 * i, 2 * i] = torch.cos(phi)
        R[..., 2 * i, 2 * i + 1] = -torch.sin(phi)
        R[..., 2 * i + 1, 2 * i] = torch.sin(phi)
        R[..., 2 * i + 1, 2 * i + 1] = torch.cos(phi)
    return (R.unsqueeze(1) @ x.float().unsqueeze(-1)).squeeze(-1).div(D ** 0.5).to(x.dtype)
