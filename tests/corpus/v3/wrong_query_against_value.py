import math
import torch
import torch.nn as nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(hidden_dim, hidden_dim) for _ in range(4)])
        self.drop = nn.Dropout(dropout_rate)
    def forward(self, x, attention_mask=None):
        fq, fk, fv, fo = self.layers
        q, k, v = fq(x), fk(x), fv(x)
        s = torch.bmm(q, v.transpose(1, 2)) / math.sqrt(x.shape[-1])
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        return fo(torch.bmm(self.drop(s.softmax(-1)), v))
