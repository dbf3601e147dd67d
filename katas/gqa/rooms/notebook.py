import math

import torch
import torch.nn as nn


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, num_kv_heads: int = 4, dropout_rate: float = 0.0
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, num_kv_heads * self.head_dim)
        self.value_proj = nn.Linear(hidden_dim, num_kv_heads * self.head_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, seq_len, hidden_dim = x.shape
        Q = self.query_proj(x).view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.key_proj(x).view(batch, seq_len, self.num_kv_heads, self.head_dim).transpose(1, 2)
        V = self.value_proj(x).view(batch, seq_len, self.num_kv_heads, self.head_dim).transpose(1, 2)
        repeats = self.num_heads // self.num_kv_heads
        K = K.repeat_interleave(repeats, dim=1)  # (batch, num_heads, seq_len, head_dim)
        V = V.repeat_interleave(repeats, dim=1)  # (batch, num_heads, seq_len, head_dim)

        scores = torch.matmul(Q, K.transpose(-2, -1))  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.head_dim)
        if attention_mask is not None:
            mask = attention_mask.unsqueeze(-3)  # the same for all heads
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, seq_len, seq_len)
        weights = self.attention_dropout(weights)

        out = torch.matmul(weights, V)  # (batch, num_heads, seq_len, head_dim)
        out = out.transpose(1, 2).reshape(batch, seq_len, hidden_dim)
        return self.output_proj(out)
