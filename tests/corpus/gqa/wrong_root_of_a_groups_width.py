import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, num_kv_heads=4, dropout_rate=0.0):
        super().__init__()
        if hidden_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError(f"{hidden_dim}, {num_heads} and {num_kv_heads} do not divide one another")
        self.n_heads, self.n_kv = num_heads, num_kv_heads
        self.n_rep = num_heads // num_kv_heads
        self.head_dim = hidden_dim // num_heads
        self.wq = nn.Linear(hidden_dim, num_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(hidden_dim, num_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(hidden_dim, num_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(num_heads * self.head_dim, hidden_dim, bias=False)
        self.dropout = nn.Dropout(dropout_rate)

    def repeat(self, t):
        """(B, S, G, d) -> (B, S, H, d)"""
        bs, slen, n_kv, dim = t.shape
        return t[:, :, :, None, :].expand(bs, slen, n_kv, self.n_rep, dim).reshape(bs, slen, n_kv * self.n_rep, dim)

    def forward(self, x, attention_mask=None):
        bsz, seqlen, _ = x.shape
        xq = self.wq(x).view(bsz, seqlen, self.n_heads, self.head_dim)
        xk = self.wk(x).view(bsz, seqlen, self.n_kv, self.head_dim)
        xv = self.wv(x).view(bsz, seqlen, self.n_kv, self.head_dim)
        keys = self.repeat(xk)
        values = self.repeat(xv)
        xq, keys, values = (t.transpose(1, 2) for t in (xq, keys, values))
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.n_rep * self.head_dim)
        if attention_mask is not None:
            hidden = attention_mask.unsqueeze(1) == 0
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        output = torch.matmul(weights, values)
        output = output.transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(output)
