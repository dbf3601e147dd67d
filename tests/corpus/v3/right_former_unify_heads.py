import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    def __init__(self, emb=728, dropout=0.1, heads=1):
        super().__init__()
        self.emb, self.heads = emb, heads
        self.tokeys = nn.Linear(emb, emb, bias=False)
        self.toqueries = nn.Linear(emb, emb, bias=False)
        self.tovalues = nn.Linear(emb, emb, bias=False)
        self.unifyheads = nn.Linear(emb, emb)
        self.dropout = dropout

    def forward(self, x, mask=None):
        b, t, e = x.size()
        h = self.heads
        s = e // h
        keys, queries, values = self.tokeys(x), self.toqueries(x), self.tovalues(x)
        keys = keys.view(b, t, h, s).transpose(1, 2).contiguous().view(b * h, t, s)
        queries = queries.view(b, t, h, s).transpose(1, 2).contiguous().view(b * h, t, s)
        values = values.view(b, t, h, s).transpose(1, 2).contiguous().view(b * h, t, s)
        queries = queries / (e ** (1 / 4))
        keys = keys / (e ** (1 / 4))
        dot = torch.bmm(queries, keys.transpose(1, 2))
        if mask is not None:
            dot = dot.masked_fill(mask == 0, torch.finfo(dot.dtype).min)
        dot = F.softmax(dot, dim=2)
        dot = F.dropout(dot, self.dropout, self.training)
        out = torch.bmm(dot, values).view(b, h, t, s)
        return self.unifyheads(out.transpose(1, 2).contiguous().view(b, t, s * h))
