import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    """Takes (B, S) padding masks as well, where they cannot be mistaken for an (S, S) mask."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        b, s, d = x.shape
        scores = self.query_proj(x) @ self.key_proj(x).mT / d**0.5
        if attention_mask is not None:
            if attention_mask.shape == (b, s) and b != s:
                attention_mask = attention_mask.unsqueeze(1)
            scores = scores.masked_fill(attention_mask == 0, torch.finfo(scores.dtype).min)
        return self.attention_dropout(scores.softmax(-1)) @ self.value_proj(x)
