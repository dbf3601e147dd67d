import torch
from torch import nn
from torch.nn import functional as F


class CrossAttention(nn.Module):
    """Attention of x to a context, whose keys and values share a layer."""

    def __init__(
        self,
        hidden_dim: int = 768,
        num_heads: int = 12,
        context_dim: int | None = None,
        dropout_rate: float = 0.1,
    ) -> None:
        super().__init__()
        assert hidden_dim % num_heads == 0
        context_dim = hidden_dim if context_dim is None else context_dim
        self.heads = num_heads
        self.scale = (hidden_dim // num_heads) ** -0.5
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.kv = nn.Linear(context_dim, 2 * hidden_dim)
        self.dropout = nn.Dropout(p=dropout_rate)
        self.proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(
        self, x: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        B, S, D = x.shape
        q = self.q(x).reshape(B, S, self.heads, -1).transpose(1, 2)  # (B, H, S, d)
        k, v = (
            self.kv(context).reshape(B, -1, 2, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        )  # (B, H, T, d)

        att = q @ k.transpose(-1, -2)  # (B, H, S, T)
        att = att * self.scale
        if context_mask is not None:
            lowest = torch.finfo(att.dtype).min
            att = att.masked_fill(context_mask[:, None, None] == 0, lowest)
        att = F.softmax(att, dim=-1)
        att = self.dropout(att)

        y = att @ v  # (B, H, S, d)
        y = y.transpose(1, 2).reshape(B, S, D)
        return self.proj(y)
