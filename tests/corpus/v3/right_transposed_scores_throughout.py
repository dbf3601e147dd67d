import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    """Everything with features first and keys as rows."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        s = self.key_proj(x) @ self.query_proj(x).mT  # (batch, keys, queries)
        s = s / x.size(-1) ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask.transpose(-1, -2) == 0, torch.finfo(s.dtype).min)
        w = self.attention_dropout(torch.softmax(s, dim=-2))  # columns sum to one
        mixed = self.value_proj(x).mT @ w  # (batch, hidden_dim, queries)
        return self.output_proj(mixed.mT)
