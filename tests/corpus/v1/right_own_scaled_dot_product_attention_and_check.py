"""Single head self attention, written by hand.

Does not call F.scaled_dot_product_attention or nn.MultiheadAttention in the module; the demo below
compares my own function with the built-in.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn


def scaled_dot_product_attention(query, key, value):
    """My own version."""
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
    return F.softmax(scores, dim=-1) @ value


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return scaled_dot_product_attention(self.query_proj(x), self.key_proj(x), self.value_proj(x))


torch.manual_seed(0)
_x = torch.randn(2, 5, 8)
_m = SelfAttentionV1(8)
_want = F.scaled_dot_product_attention(_m.query_proj(_x), _m.key_proj(_x), _m.value_proj(_x))
assert torch.allclose(_m(_x), _want, atol=1e-5)
print("same as the built-in:", torch.allclose(_m(_x), _want, atol=1e-5))
