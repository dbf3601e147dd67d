import math
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        n = x.size(1)
        if attention_mask is None:
            attention_mask = torch.ones(n, n, device=x.device).tril()
        s = (q @ k.mT / math.sqrt(self.hidden_dim)).masked_fill(attention_mask == 0, -1e9)
        return torch.dropout(s.softmax(-1), self.attention_dropout.p, True) @ v
