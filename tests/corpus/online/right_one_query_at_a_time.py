import math
import torch


def online_attention(query, key, value, block_size):
    rows = []
    for i in range(query.shape[2]):
        q = query[:, :, i:i + 1]
        m, l, o = None, None, None
        for j in range(0, key.shape[2], block_size):
            s = (q * key[:, :, j:j + block_size]).sum(-1) / math.sqrt(q.shape[-1])   # (B, H, block)
            mj = s.max(-1, keepdim=True)[0]
            new = mj if m is None else torch.maximum(m, mj)
            e = torch.exp(s - new)
            part = (e.unsqueeze(-1) * value[:, :, j:j + block_size]).sum(2)
            if m is None:
                l, o = e.sum(-1, keepdim=True), part
            else:
                c = torch.exp(m - new)
                l, o = l * c + e.sum(-1, keepdim=True), o * c + part
            m = new
        rows.append(o / l)
    return torch.stack(rows, dim=2)
