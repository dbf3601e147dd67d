import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        att = torch.softmax(torch.bmm(k, q.permute(0, 2, 1)) / math.sqrt(x.shape[2]), dim=1)   # (b, key, query)
        return torch.bmm(att.permute(0, 2, 1), v)
