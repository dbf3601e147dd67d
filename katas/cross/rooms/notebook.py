import math

import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    def __init__(
        self,
        hidden_dim: int = 768,
        num_heads: int = 12,
        context_dim: int | None = None,
        dropout_rate: float = 0.1,
    ) -> None:
        super().__init__()
        context_dim = hidden_dim if context_dim is None else context_dim
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(context_dim, hidden_dim)
        self.value_proj = nn.Linear(context_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(
        self, x: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        batch, seq_len, hidden_dim = x.shape
        Q = self.query_proj(x).view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.key_proj(context).view(batch, -1, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.value_proj(context).view(batch, -1, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1))  # (batch, num_heads, seq_len, context_len)
        scores = scores / math.sqrt(self.head_dim)
        if context_mask is not None:
            mask = context_mask[:, None, None, :]  # the same for all heads and queries
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, seq_len, context_len)
        weights = self.attention_dropout(weights)

        out = torch.matmul(weights, V)  # (batch, num_heads, seq_len, head_dim)
        out = out.transpose(1, 2).reshape(batch, seq_len, hidden_dim)
        return self.output_proj(out)
