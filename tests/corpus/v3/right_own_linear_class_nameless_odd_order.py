import math
import torch
from torch import nn


class Dense(nn.Module):
    """y = x Wᵀ + b, as nn.Linear does it."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))

    def forward(self, x):
        return torch.matmul(x, self.weight.t()) + self.bias


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.last = Dense(hidden_dim, hidden_dim)
        self.third = Dense(hidden_dim, hidden_dim)
        self.second = Dense(hidden_dim, hidden_dim)
        self.first = Dense(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        scores = self.first(x) @ self.second(x).mT / math.sqrt(x.shape[-1])
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        weights = self.attention_dropout(torch.softmax(scores, dim=-1))
        return self.last(weights @ self.third(x))
