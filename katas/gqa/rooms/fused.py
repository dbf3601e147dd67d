import torch
from torch import nn
from torch.nn import functional as F


class GroupedQueryAttention(nn.Module):
    """Groups of query heads share a head of keys and values; one layer for all."""

    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, num_kv_heads: int = 4, dropout_rate: float = 0.0
    ) -> None:
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.heads = num_heads
        self.groups = num_kv_heads
        self.width = hidden_dim // num_heads
        self.scale = (hidden_dim // num_heads) ** -0.5
        self.qkv = nn.Linear(hidden_dim, (num_heads + 2 * num_kv_heads) * self.width)
        self.dropout = nn.Dropout(p=dropout_rate)
        self.proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        B, S, D = x.shape
        parts = self.qkv(x).unflatten(-1, (-1, self.width)).transpose(1, 2)  # (B, H + 2G, S, d)
        q, k, v = parts.split([self.heads, self.groups, self.groups], dim=1)
        q = q.unflatten(1, (self.groups, -1))  # (B, G, H / G, S, d)
        k, v = k.unsqueeze(2), v.unsqueeze(2)  # (B, G, 1, S, d)

        att = q @ k.transpose(-1, -2)  # (B, G, H / G, S, S)
        att = att * self.scale
        if attention_mask is not None:
            lowest = torch.finfo(att.dtype).min
            att = att.masked_fill(attention_mask.unsqueeze(-3).unsqueeze(-3) == 0, lowest)
        att = F.softmax(att, dim=-1)
        att = self.dropout(att)

        y = (att @ v).flatten(1, 2)  # (B, H, S, d)
        y = y.transpose(1, 2).reshape(B, S, D)
        return self.proj(y)
