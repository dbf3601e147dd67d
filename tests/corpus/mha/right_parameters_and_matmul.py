import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        d = hidden_dim // num_heads
        make = lambda *shape: nn.Parameter(torch.randn(*shape) / hidden_dim**0.5)
        self.q, self.k, self.v = (make(num_heads, hidden_dim, d) for _ in range(3))
        self.o = make(num_heads, d, hidden_dim)
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        x = x.unsqueeze(1)  # (batch, 1, length, width), against (heads, width, d)
        query, key, value = x @ self.q, x @ self.k, x @ self.v
        scores = query @ key.mT * query.shape[-1] ** -0.5
        if attention_mask is not None:
            scores = scores + torch.where(attention_mask == 0, -1e9, 0.0).unsqueeze(-3)
        return (self.dropout(scores.softmax(-1)) @ value @ self.o).sum(1)
