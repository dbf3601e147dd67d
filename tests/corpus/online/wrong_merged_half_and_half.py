import torch


def online_attention(q, k, v, block_size):
    # 分块计算, 用 log-sum-exp 合并
    out = lse = None
    for kb, vb in zip(k.split(block_size, -2), v.split(block_size, -2)):
        s = q @ kb.transpose(-2, -1) / (q.size(-1) ** 0.5)
        part_lse = torch.logsumexp(s, dim=-1, keepdim=True)
        part = torch.softmax(s, dim=-1) @ vb
        if lse is None:
            out, lse = part, part_lse
            continue
        total = torch.logaddexp(lse, part_lse)
        out = (out + part) / 2
        lse = total
    return out
