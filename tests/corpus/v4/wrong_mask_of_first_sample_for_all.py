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
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        s = q @ k.transpose(-2, -1) * self.scale
        if attention_mask is not None:
            m = attention_mask[0] if attention_mask.dim() == 3 else attention_mask
            s = s.masked_fill(m == 0, float('-inf'))
        return self.drop(s.softmax(-1)) @ v
