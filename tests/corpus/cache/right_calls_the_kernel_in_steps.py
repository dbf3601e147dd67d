import torch
import torch.nn as nn
from torch.nn import functional as F


class CachedSelfAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.c_attn = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.c_proj = nn.Linear(hidden_dim, hidden_dim)
        self.n_head = num_heads

    def forward(self, x, layer_past=None):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=-2)
            v = torch.cat((layer_past[1], v), dim=-2)
        present = torch.stack((k, v))
        if layer_past is not None and T == 1:
            y = F.scaled_dot_product_attention(q, k, v)
            return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C)), present
        nd, ns = q.size(-2), k.size(-2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / (k.size(-1) ** 0.5))
        bias = torch.tril(torch.ones(1, 1, ns, ns, dtype=torch.bool))[:, :, ns - nd : ns, :ns]
        att = att.masked_fill(~bias, torch.finfo(att.dtype).min)
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C)), present
