import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.to_q = nn.Linear(hidden_dim, hidden_dim)
        self.to_k = nn.Linear(hidden_dim, hidden_dim)
        self.to_v = nn.Linear(hidden_dim, hidden_dim)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        b, s, width = x.shape
        q = self.to_q(x).view(b, s, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.to_k(x).view(b, s, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.to_v(x).view(b, s, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) / self.num_heads**0.5
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask.unsqueeze(-3) == 0, float("-inf"))
        weights = self.drop(scores.softmax(dim=-1))
        mixed = weights @ v
        return self.to_out(mixed.transpose(1, 2).reshape(b, s, width))
