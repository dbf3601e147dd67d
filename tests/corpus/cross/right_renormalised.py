import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, context_dim=None, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        source = context_dim if context_dim is not None else hidden_dim
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.to_q = nn.Linear(hidden_dim, hidden_dim)
        self.to_k = nn.Linear(source, hidden_dim)
        self.to_v = nn.Linear(source, hidden_dim)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, context, context_mask=None):
        b, s, width = x.shape
        t = context.shape[1]
        q = self.to_q(x).view(b, s, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.to_k(context).view(b, t, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.to_v(context).view(b, t, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) / self.head_dim**0.5
        weights = scores.softmax(dim=-1)
        if context_mask is not None:
            weights = weights * (context_mask != 0)[:, None, None]
            weights = weights / weights.sum(-1, keepdim=True)
        weights = self.drop(weights)
        mixed = weights @ v
        return self.to_out(mixed.transpose(1, 2).reshape(b, s, width))
