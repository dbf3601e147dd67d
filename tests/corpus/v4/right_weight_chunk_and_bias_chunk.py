import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV4(nn.Module):
    """One head, fused projection."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.drop = nn.Dropout(p=dropout_rate)
    def forward(self, x, attention_mask=None):
        wq, wk, wv = self.qkv.weight.chunk(3, dim=0)
        bq, bk, bv = self.qkv.bias.chunk(3, dim=0)
        k = F.linear(x, wk, bk)
        q = F.linear(x, wq, bq)
        v = F.linear(x, wv, bv)
        s = torch.einsum('bqd,bkd->bqk', q, k) * self.scale
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        return torch.einsum('bqk,bkd->bqd', self.drop(s.softmax(dim=2)), v)
