import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        batch_size, seq_len, _ = x.size()
        q = self.query_proj(x)
        k = self.key_proj(x).view(batch_size, self.hidden_dim, seq_len)
        v = self.value_proj(x)
        attn = torch.softmax(torch.bmm(q, k) / math.sqrt(self.hidden_dim), dim=-1)
        return torch.bmm(attn, v)
