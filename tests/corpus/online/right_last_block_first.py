import math
import torch


def online_attention(Q, K, V, Bc):
    """the blocks come in the opposite order, the last (short) one first"""
    Tc = (K.size(-2) + Bc - 1) // Bc
    m = torch.full(Q.shape[:-1], -math.inf, dtype=Q.dtype, device=Q.device)
    l = torch.zeros_like(m)
    O = torch.zeros_like(Q)
    for j in reversed(range(Tc)):
        Kj, Vj = K[..., j * Bc:(j + 1) * Bc, :], V[..., j * Bc:(j + 1) * Bc, :]
        Sij = Q @ Kj.mT / math.sqrt(Q.size(-1))
        mi = torch.maximum(m, Sij.max(-1).values)
        P = torch.exp(Sij - mi.unsqueeze(-1))
        alpha = torch.exp(m - mi)
        l = l * alpha + P.sum(-1)
        O = O * alpha.unsqueeze(-1) + P @ Vj
        m = mi
    return O / l.unsqueeze(-1)
