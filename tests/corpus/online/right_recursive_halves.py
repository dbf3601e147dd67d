import torch


def _state(q, k, v):
    s = torch.einsum("bhsd,bhtd->bhst", q, k)
    m = s.amax(-1, keepdim=True)
    p = torch.exp(s - m)
    return m, p.sum(-1, keepdim=True), p @ v


def _join(one, two):
    m = torch.maximum(one[0], two[0])
    a, b = torch.exp(one[0] - m), torch.exp(two[0] - m)
    return m, one[1] * a + two[1] * b, one[2] * a + two[2] * b


def _tree(states):
    if len(states) == 1:
        return states[0]
    half = len(states) // 2
    return _join(_tree(states[:half]), _tree(states[half:]))


def online_attention(query, key, value, block_size):
    q = query / query.size(-1) ** 0.5
    pairs = zip(key.split(block_size, 2), value.split(block_size, 2))
    _, total, mixed = _tree([_state(q, k, v) for k, v in pairs])
    return mixed / total
