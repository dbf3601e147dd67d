import math
import torch
import torch.nn as nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        # x: (batch, seq_len, hidden_dim)
        query = self.query_proj(x)                      # (batch, seq_len, hidden_dim)
        key = self.key_proj(x)                          # (batch, seq_len, hidden_dim)
        value = self.value_proj(x)                      # (batch, seq_len, hidden_dim)
        scores = query @ key.transpose(-2, -1)          # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, float("-1e20"))
        weights = torch.softmax(scores, dim=-1)         # (batch, seq_len, seq_len)
        weights = self.attention_dropout(weights)
        return self.output_proj(weights @ value)        # (batch, seq_len, hidden_dim)
