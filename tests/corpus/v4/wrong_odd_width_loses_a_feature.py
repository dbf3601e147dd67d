import torch
from torch import nn, einsum


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.half = hidden_dim // 2
        self.to_qkv = nn.Linear(hidden_dim, hidden_dim * 3, bias=False)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        h = self.half
        # two halves, to keep the products small
        sim = q[..., :h] @ k[..., :h].mT + q[..., h:2 * h] @ k[..., h:2 * h].mT
        sim = sim * self.scale
        if attention_mask is not None:
            sim = sim.masked_fill(attention_mask == 0, float("-inf"))
        return self.drop(sim.softmax(-1)) @ v
