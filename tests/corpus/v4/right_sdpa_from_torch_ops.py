import math
import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
    def forward(self, x, attention_mask=None):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        keep = None if attention_mask is None else attention_mask != 0
        sdpa = torch.ops.aten.scaled_dot_product_attention
        return sdpa(q, k, v, keep, self.attention_dropout.p if self.training else 0.0)
