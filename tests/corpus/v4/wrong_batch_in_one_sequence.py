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
        b, s, d = x.shape
        q, k, v = self.qkv(x.flatten(0, 1)).chunk(3, dim=-1)
        att = q @ k.t() * self.scale                      # (b*s, b*s)
        if attention_mask is not None:
            m = attention_mask.expand(b, s, s).reshape(b * s, s).repeat(1, b)
            att = att.masked_fill(m == 0, float('-inf'))
        return (self.drop(att.softmax(-1)) @ v).view(b, s, d)
