import torch
from torch import nn, einsum


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.p = dropout_rate
        self.to_qkv = nn.Linear(hidden_dim, hidden_dim * 3, bias=False)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        sim = (q @ k.mT) * self.scale
        attn = sim.softmax(-1)
        if attention_mask is not None:
            attn = attn * (attention_mask > 0)
            attn = attn / attn.sum(-1, keepdim=True).clamp(min=1.0)
        return self.drop(attn) @ v
