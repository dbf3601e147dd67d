import math
import torch


def online_attention(query, key, value, block_size):
    """Samples and heads in one axis; bmm and baddbmm."""
    b, h, s, d = query.shape
    t = key.shape[2]
    q = query.reshape(b * h, s, d) / math.sqrt(d)
    k = key.reshape(b * h, t, d)
    v = value.reshape(b * h, t, d)
    m = torch.full((b * h, s, 1), -1e30, dtype=q.dtype)
    l = torch.zeros(b * h, s, 1, dtype=q.dtype)
    o = torch.zeros(b * h, s, d, dtype=q.dtype)
    start = 0
    while start < t:
        n = min(block_size, t - start)
        x = torch.bmm(q, k.narrow(1, start, n).transpose(1, 2))
        m_new = torch.max(m, x.max(dim=2, keepdim=True)[0])
        p = torch.exp(x - m_new)
        r = torch.exp(m - m_new)
        l = torch.addcmul(p.sum(dim=2, keepdim=True), l, r)
        o = torch.baddbmm(o * r, p, v.narrow(1, start, n))
        m = m_new
        start += n
    return (o / l).view(b, h, s, d)
