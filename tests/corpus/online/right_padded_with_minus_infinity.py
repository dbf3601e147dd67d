import torch
import torch.nn.functional as F


def online_attention(query, key, value, block_size):
    T = key.shape[2]
    extra = (-T) % block_size
    key = F.pad(key, (0, 0, 0, extra))
    value = F.pad(value, (0, 0, 0, extra))
    real = torch.arange(T + extra) < T
    q = query * (query.shape[-1] ** -0.5)
    m = torch.full_like(query[..., :1], float("-inf"))
    den = torch.zeros_like(m)
    num = torch.zeros_like(query)
    for i in range(key.shape[2] // block_size):
        sl = slice(i * block_size, (i + 1) * block_size)
        s = torch.matmul(q, key[:, :, sl].transpose(-1, -2))
        s = s.masked_fill(~real[sl], float("-inf"))
        new = torch.maximum(m, s.amax(-1, keepdim=True))
        w = torch.exp(s - new)
        c = torch.exp(m - new)
        den = den * c + w.sum(-1, keepdim=True)
        num = num * c + w @ value[:, :, sl]
        m = new
    return num / den
