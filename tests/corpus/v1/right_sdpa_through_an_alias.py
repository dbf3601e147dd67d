import torch
import torch.nn as nn
from torch.nn.functional import scaled_dot_product_attention as sdpa


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return sdpa(self.query_proj(x), self.key_proj(x), self.value_proj(x))
