import math

import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        # x: (batch, seq_len, hidden_dim)
        Q = self.query_proj(x)  # (batch, seq_len, hidden_dim)
        K = self.key_proj(x)  # (batch, seq_len, hidden_dim)
        V = self.value_proj(x)  # (batch, seq_len, hidden_dim)

        scores = torch.matmul(Q, K.transpose(-2, -1))  # (batch, seq_len, seq_len)
        scores = scores / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)
        weights = self.attention_dropout(weights)

        out = torch.matmul(weights, V)  # (batch, seq_len, hidden_dim)
        return out
