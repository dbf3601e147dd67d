import torch
import torch.nn.functional as F
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, context_dim=None, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        source = context_dim or hidden_dim
        self.heads, self.rate = num_heads, dropout_rate
        self.w_q = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.05)
        self.w_kv = nn.Parameter(torch.randn(2 * hidden_dim, source) * 0.05)
        self.w_o = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.05)

    def forward(self, x, context, context_mask=None):
        w_k, w_v = self.w_kv.chunk(2)
        q, k, v = (
            F.linear(t, w).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t, w in ((x, self.w_q), (context, w_k), (context, w_v))
        )
        scores = q @ k.mT * q.size(-1) ** -0.5
        if context_mask is not None:
            scores = scores.masked_fill(context_mask[:, None, None] == 0, -1e30)
        weights = F.dropout(torch.softmax(scores, -1), self.rate, self.training)
        return F.linear((weights @ v).transpose(1, 2).flatten(2), self.w_o)
