import math

import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, max_seq_len: int = 1024, dropout_rate: float = 0.1
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        visible = torch.tril(torch.ones(max_seq_len, max_seq_len))
        self.register_buffer("visible", visible)  # 1 on and below the diagonal

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, seq_len, hidden_dim = x.shape
        Q = self.query_proj(x).view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.key_proj(x).view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.value_proj(x).view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1))  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.head_dim)
        scores = scores.masked_fill(self.visible[:seq_len, :seq_len] == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # (batch, num_heads, seq_len, seq_len)
        weights = self.attention_dropout(weights)

        out = torch.matmul(weights, V)  # (batch, num_heads, seq_len, head_dim)
        out = out.transpose(1, 2).reshape(batch, seq_len, hidden_dim)
        return self.output_proj(out)
