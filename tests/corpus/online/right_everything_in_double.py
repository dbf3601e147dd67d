import torch


def online_attention(query, key, value, block_size):
    q, k, v = (t.double() for t in (query, key, value))
    q = q / q.shape[-1] ** 0.5
    m = q.new_full(q.shape[:-1] + (1,), float("-inf"))
    s = torch.zeros_like(m)
    o = torch.zeros_like(q)
    for b in range(0, k.shape[2], block_size):
        z = q @ k[:, :, b:b + block_size].transpose(-1, -2)
        n = torch.maximum(m, z.amax(-1, True))
        s = s * (m - n).exp() + (z - n).exp().sum(-1, True)
        o = o * (m - n).exp() + (z - n).exp() @ v[:, :, b:b + block_size]
        m = n
    return (o / s).to(query.dtype)
