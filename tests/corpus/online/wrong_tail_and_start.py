import torch


def attend(q, k, v, m, l, o):
    # one block
    s = torch.einsum("bhqd,bhkd->bhqk", q, k)
    m_new = torch.maximum(m, s.amax(-1))
    p = torch.exp(s - m_new.unsqueeze(-1))
    alpha = torch.exp(m - m_new)
    l = l * alpha + p.sum(-1)
    o = o * alpha.unsqueeze(-1) + torch.einsum("bhqk,bhkd->bhqd", p, v)
    return m_new, l, o


def online_attention(Q, K, V, block):
    q = Q / Q.size(-1) ** 0.5
    m = Q.new_full(Q.shape[:3], -50.0)
    l = Q.new_zeros(Q.shape[:3])
    o = torch.zeros_like(Q)
    n = max(K.size(2) // block, 1)
    for i in range(n):
        m, l, o = attend(q, K[:, :, i * block:(i + 1) * block], V[:, :, i * block:(i + 1) * block], m, l, o)
    return o / l.unsqueeze(-1)
