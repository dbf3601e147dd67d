import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, max_seq_len=1024, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.to_q = nn.Linear(hidden_dim, hidden_dim)
        self.to_k = nn.Linear(hidden_dim, hidden_dim)
        self.to_v = nn.Linear(hidden_dim, hidden_dim)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)
        self.drop = nn.Dropout(dropout_rate)
        self.register_buffer("past", torch.ones(max_seq_len, max_seq_len, dtype=torch.bool).tril())

    def forward(self, x):
        b, s, width = x.shape
        q = self.to_q(x).view(b, s, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.to_k(x).view(b, s, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.to_v(x).view(b, s, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) / self.head_dim**0.5
        scores.masked_fill(~self.past[:s, :s], float("-inf"))
        weights = self.drop(scores.softmax(dim=-1))
        mixed = weights @ v
        return self.to_out(mixed.transpose(1, 2).reshape(b, s, width))
