import torch
from torch import nn
from torch.nn import functional as F


class SelfAttentionV3(nn.Module):
    """One head of attention; query, key and value come out of one matrix product."""

    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.scale = hidden_dim**-0.5
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.dropout = nn.Dropout(p=dropout_rate)
        self.proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        B, S, D = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)  # each (B, S, D)

        att = q @ k.transpose(1, 2)  # (B, S, S)
        att = att * self.scale
        if attention_mask is not None:
            lowest = torch.finfo(att.dtype).min
            att = att.masked_fill(attention_mask == 0, lowest)  # (B, S, S)
        att = F.softmax(att, dim=2)
        att = self.dropout(att)

        y = att @ v  # (B, S, D)
        return self.proj(y.view(B, S, D))
