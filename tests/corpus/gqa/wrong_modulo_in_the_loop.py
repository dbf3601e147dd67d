import math

import torch
from torch import nn
from torch.nn import functional as F


class GroupedQueryAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, num_kv_heads=4, dropout_rate=0.0):
        super().__init__()
        assert hidden_dim % num_heads == 0, "width"
        assert num_heads % num_kv_heads == 0, "groups"
        self.head_dim = hidden_dim // num_heads
        self.per_group = num_heads // num_kv_heads
        self.rate = dropout_rate
        self.queries = nn.ModuleList(nn.Linear(hidden_dim, self.head_dim) for _ in range(num_heads))
        self.keys = nn.ModuleList(nn.Linear(hidden_dim, self.head_dim) for _ in range(num_kv_heads))
        self.values = nn.ModuleList(nn.Linear(hidden_dim, self.head_dim) for _ in range(num_kv_heads))
        self.out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        ks = [layer(x) for layer in self.keys]
        vs = [layer(x) for layer in self.values]
        heads = []
        for h, layer in enumerate(self.queries):
            g = h % len(ks)
            score = layer(x) @ ks[g].transpose(1, 2) / math.sqrt(self.head_dim)
            if attention_mask is not None:
                score = score.masked_fill(attention_mask == 0, float("-inf"))
            weight = F.dropout(F.softmax(score, dim=-1), self.rate, self.training)
            heads.append(weight @ vs[g])
        return self.out(torch.cat(heads, dim=-1))
