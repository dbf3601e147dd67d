import math

import torch
from torch import nn


class OneHead(nn.Module):
    def __init__(self, hidden_dim, head_dim, dropout_rate):
        super().__init__()
        self.query = nn.Linear(hidden_dim, head_dim)
        self.key = nn.Linear(hidden_dim, head_dim)
        self.value = nn.Linear(hidden_dim, head_dim)
        self.dropout = nn.Dropout(dropout_rate)
        self.root = math.sqrt(head_dim)

    def forward(self, x, hidden):
        scores = self.query(x) @ self.key(x).mT / self.root
        if hidden is not None:
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        return self.dropout(weights) @ self.value(x)


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0, (hidden_dim, num_heads)
        head_dim = hidden_dim // num_heads
        self.heads = nn.ModuleList(OneHead(hidden_dim, hidden_dim, dropout_rate) for _ in range(num_heads))
        self.join = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        hidden = None if attention_mask is None else attention_mask == 0
        results = [head(x, hidden) for head in self.heads]
        return self.join(torch.stack(results).mean(0))
