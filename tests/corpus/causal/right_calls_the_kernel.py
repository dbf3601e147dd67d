import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, max_seq_len=1024, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.heads, self.rate = num_heads, dropout_rate
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        rate = self.rate if self.training else 0.0
        y = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))
