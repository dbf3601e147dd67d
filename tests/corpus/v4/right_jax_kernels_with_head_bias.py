import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    """flax names and shapes: kernel (D, H, K), bias (H, K), one head."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1, num_heads=1):
        super().__init__()
        shape = (hidden_dim, num_heads, hidden_dim // num_heads)
        for role in ("query", "key", "value"):
            self.register_parameter(role + "_kernel", nn.Parameter(torch.randn(shape) * hidden_dim**-0.5))
            self.register_parameter(role + "_bias", nn.Parameter(torch.zeros(shape[1:])))
        self.dropout = nn.Dropout(dropout_rate)

    def dense(self, x, role):
        return torch.einsum("...d,dhk->...hk", x, getattr(self, role + "_kernel")) + getattr(self, role + "_bias")

    def forward(self, x, attention_mask=None):
        q, k, v = (self.dense(x, role) for role in ("query", "key", "value"))
        a = torch.einsum("...qhd,...khd->...hqk", q / q.shape[-1] ** 0.5, k)
        if attention_mask is not None:
            visible = attention_mask.bool().expand(x.shape[0], x.shape[1], x.shape[1])[:, None]
            a = torch.where(visible, a, torch.finfo(a.dtype).min)
        a = self.dropout(a.softmax(-1))
        return torch.einsum("...hqk,...khd->...qhd", a, v).flatten(-2)
