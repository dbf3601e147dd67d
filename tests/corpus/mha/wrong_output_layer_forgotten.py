import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_dim: int = 768, num_heads: int = 12, dropout_rate: float = 0.1):
        super().__init__()
        if hidden_dim % num_heads != 0:
            raise ValueError("the heads must divide the width")
        self.heads = num_heads
        self.p = dropout_rate
        self.in_proj = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        self.out_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)

    def forward(self, x, attention_mask=None):
        batch, length, width = x.shape
        d = width // self.heads
        packed = self.in_proj(x).view(batch, length, 3, self.heads, d)
        query, key, value = packed.unbind(2)  # (batch, length, heads, d)
        logits = torch.einsum("bqhd,bkhd->bhqk", query, key) / math.sqrt(d)
        if attention_mask is not None:
            visible = attention_mask.to(torch.bool)
            if visible.dim() == 3:
                visible = visible[:, None]
            logits = torch.where(visible, logits, torch.full_like(logits, -1e9))
        weights = F.dropout(F.softmax(logits, dim=-1), self.p, self.training)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, value)
        return out.reshape(batch, length, width)
