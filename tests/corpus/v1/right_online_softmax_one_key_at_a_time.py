import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.d = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        m, l, o = None, None, None
        for j in range(x.shape[1]):
            s = (q * k[:, j:j + 1]).sum(-1, keepdim=True) / math.sqrt(self.d)   # (b, s, 1)
            vj = v[:, j:j + 1]
            if m is None:
                m, l, o = s, torch.ones_like(s), vj.expand_as(q)
                continue
            m_new = torch.maximum(m, s)
            a, b = (m - m_new).exp(), (s - m_new).exp()
            l = l * a + b
            o = o * a + b * vj
            m = m_new
        return o / l
