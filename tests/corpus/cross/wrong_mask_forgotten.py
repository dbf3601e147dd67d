import math

import torch
import torch.nn.functional as F
from torch import nn


class CrossAttention(nn.Module):
    """One layer for keys and values; heads stay behind the positions."""

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12, context_dim: int | None = None, dropout_rate: float = 0.1):
        super().__init__()
        if hidden_dim % num_heads:
            raise ValueError(hidden_dim)
        self.h, self.rate = num_heads, dropout_rate
        self.ask = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.read = nn.Linear(context_dim or hidden_dim, 2 * hidden_dim, bias=False)
        self.say = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, context, context_mask=None):
        query = self.ask(x).unflatten(-1, (self.h, -1))
        key, value = self.read(context).unflatten(-1, (2, self.h, -1)).unbind(2)
        logits = torch.einsum("bqhd,bkhd->bhqk", query, key) / math.sqrt(query.size(-1))
        if context_mask is not None:
            bias = torch.zeros(context_mask.shape, device=x.device).masked_fill(context_mask == 0, -1e9)
            bias = bias.clone()
            logits + bias.unsqueeze(1).unsqueeze(1)
        weights = F.dropout(logits.softmax(-1), self.rate, self.training)
        return self.say(torch.einsum("bhqk,bkhd->bqhd", weights, value).flatten(2))
