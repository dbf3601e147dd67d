import math
import torch


def online_attention(query, key, value, block_size):
    B, H, S, D = query.shape
    m_i = torch.full((B, H, S), torch.finfo(query.dtype).min, dtype=query.dtype, device=query.device)
    l_i = torch.zeros((B, H, S), dtype=query.dtype, device=query.device)
    acc = torch.zeros((B, H, S, D), dtype=query.dtype, device=query.device)
    for start_n in range(0, key.shape[2], block_size):
        k = key[:, :, start_n:start_n + block_size, :]
        qk = torch.zeros((B, H, S, k.shape[2]), dtype=query.dtype, device=query.device)
        qk += query @ k.transpose(2, 3)
        qk *= 1.0 / math.sqrt(D)
        m_ij = torch.maximum(m_i, torch.amax(qk, 3))
        p = torch.exp(qk - m_ij[:, :, :, None])
        alpha = torch.exp(m_i - m_ij)
        l_i = l_i * alpha + torch.sum(p, 3)
        acc = acc * alpha[:, :, :, None]
        acc += torch.matmul(p, value[:, :, start_n:start_n + block_size, :])
        m_i = m_ij
    acc = acc / l_i[:, :, :, None]
    return acc
