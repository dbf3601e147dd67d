import torch
from torch import nn, einsum


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.to_q = nn.Linear(hidden_dim, hidden_dim)
        self.to_k = nn.Linear(hidden_dim, hidden_dim)
        self.to_v = nn.Linear(hidden_dim, hidden_dim)
        self.scale = hidden_dim ** -0.5

    def forward(self, x):
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        sim = einsum('b i d, b j d -> b j i', q, k) * self.scale
        attn = sim.softmax(dim=-1)
        return einsum('b i j, b j d -> b i d', attn, v)
