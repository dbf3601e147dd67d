import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v)
