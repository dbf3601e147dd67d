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
        sim = einsum("b i d, b j d -> b i j", q, k) * self.scale
        if attention_mask is not None:
            sim = sim + torch.log(attention_mask.to(sim.dtype) + 1e-6)
        attn = self.drop(sim.softmax(dim=-1))
        return einsum("b i j, b j d -> b i d", attn, v)
