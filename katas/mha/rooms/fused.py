import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    """All heads of query, key and value come out of one matrix product."""

    def __init__(self, hidden_dim: int = 768, num_heads: int = 12, dropout_rate: float = 0.1) -> None:
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.heads = num_heads
        self.scale = (hidden_dim // num_heads) ** -0.5
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.dropout = nn.Dropout(p=dropout_rate)
        self.proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        B, S, D = x.shape
        q, k, v = self.qkv(x).reshape(B, S, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # each (B, H, S, d)

        att = q @ k.transpose(-1, -2)  # (B, H, S, S)
        att = att * self.scale
        if attention_mask is not None:
            lowest = torch.finfo(att.dtype).min
            att = att.masked_fill(attention_mask.unsqueeze(-3) == 0, lowest)
        att = F.softmax(att, dim=-1)
        att = self.dropout(att)

        y = att @ v  # (B, H, S, d)
        y = y.transpose(1, 2).reshape(B, S, D)
        return self.proj(y)
