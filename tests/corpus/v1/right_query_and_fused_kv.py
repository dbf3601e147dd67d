import torch
from torch import nn, einsum


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_kv = nn.Linear(hidden_dim, hidden_dim * 2, bias=False)

    def forward(self, x, context=None):
        context = x if context is None else context
        q, (k, v) = self.to_q(x), self.to_kv(context).chunk(2, dim=-1)
        sim = einsum('b i d, b j d -> b i j', q, k) * self.scale
        return einsum('b i j, b j d -> b i d', sim.softmax(dim=-1), v)
