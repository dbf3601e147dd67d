import torch
from torch import nn
from torch.nn import functional as F


class SelfAttentionV2(nn.Module):
    """One head of attention; query, key and value come out of one matrix product."""

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.scale = hidden_dim**-0.5
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, S, D = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)  # each (B, S, D)

        att = q @ k.transpose(1, 2)  # (B, S, S)
        att = att * self.scale
        att = F.softmax(att, dim=2)

        y = att @ v  # (B, S, D)
        return y.view(B, S, D)
