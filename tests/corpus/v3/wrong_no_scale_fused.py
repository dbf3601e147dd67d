import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    """One head, fused projection."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.drop = nn.Dropout(p=dropout_rate)
        self.proj = nn.Linear(hidden_dim, hidden_dim)
    def forward(self, x, attention_mask=None):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        attn = q @ k.transpose(-2, -1)
        if attention_mask is not None:
            attn = attn.masked_fill(attention_mask == 0, float('-inf'))
        attn = self.drop(attn.softmax(dim=-1))
        return self.proj(attn @ v)
