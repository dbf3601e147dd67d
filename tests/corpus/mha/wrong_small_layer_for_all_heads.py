import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.num_heads, d = num_heads, hidden_dim // num_heads
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(hidden_dim, hidden_dim)
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        pieces = x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        scores = self.query(pieces) @ self.key(pieces).mT / pieces.size(-1) ** 0.5
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask.unsqueeze(-3) == 0, float("-inf"))
        mixed = self.dropout(scores.softmax(-1)) @ self.value(pieces)
        return self.out(mixed.transpose(1, 2).flatten(2))
