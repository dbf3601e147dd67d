import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1, block=2):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.p, self.block = dropout_rate, block

    def forward(self, x, attention_mask=None):
        b, s, d = x.shape
        q, k, v = self.query_proj(x) / math.sqrt(d), self.key_proj(x), self.value_proj(x)
        mask = None if attention_mask is None else attention_mask.expand(b, s, s)
        m = torch.full((b, s, 1), -1e30, dtype=x.dtype, device=x.device)
        total = torch.zeros_like(m)
        acc = torch.zeros_like(v)
        for i in range(0, s, self.block):
            logits = q @ k[:, i:i + self.block].mT
            if mask is not None:
                logits = logits.masked_fill(mask[..., i:i + self.block] == 0, -1e30)
            new = torch.maximum(m, logits.amax(-1, keepdim=True))
            e = (logits - new).exp()
            shrink = (m - new).exp()
            total = total * shrink + e.sum(-1, keepdim=True)
            acc = acc * shrink + F.dropout(e, self.p, self.training) @ v[:, i:i + self.block]
            m = new
        return acc / total
