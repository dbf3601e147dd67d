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
        w = F.softmax(q @ k.transpose(-2, -1) * self.scale, dim=-1)
        if attention_mask is not None:
            w = w * (attention_mask != 0)
            w = w / (w.sum(dim=-1, keepdim=True) + 1e-8)
        return self.drop(w) @ v
