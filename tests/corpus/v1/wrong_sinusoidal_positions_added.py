import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def positions(self, n, like):
        pos = torch.arange(n, dtype=like.dtype, device=like.device)[:, None]
        freq = torch.exp(-math.log(10000.0) * torch.arange(0, self.hidden_dim, 2, dtype=like.dtype, device=like.device) / self.hidden_dim)
        pe = torch.zeros(n, self.hidden_dim, dtype=like.dtype, device=like.device)
        pe[:, 0::2] = torch.sin(pos * freq)
        pe[:, 1::2] = torch.cos(pos * freq)
        return pe

    def forward(self, x):
        x = x + self.positions(x.shape[1], x)
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        att = torch.softmax(q @ k.mT / math.sqrt(self.hidden_dim), dim=-1)
        return att @ v
