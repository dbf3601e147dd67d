import math
import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.dropout_rate = dropout_rate
        self.hidden_dim = hidden_dim
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        scores = self.q(x) @ self.k(x).transpose(-2, -1) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        attention = torch.softmax(scores, dim=-1)
        drop = nn.Dropout(self.dropout_rate)
        attention = drop(attention)
        return attention @ self.v(x)
