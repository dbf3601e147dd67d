import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.c_attn = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.c_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attn_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        B, T, C = x.size()
        q, k, v = [t.view(B, T, 1, C).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2)]
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if attention_mask is not None:
            m = attention_mask.expand(B, T, T)[:, None]
            att = att.masked_fill(m == 0, float('-inf'))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)
