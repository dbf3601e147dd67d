from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class AttentionConfig:
    hidden_dim: int = 728
    bias: bool = True

    @property
    def scale(self) -> float:
        return 1.0 / math.sqrt(self.hidden_dim)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728, config: AttentionConfig | None = None) -> None:
        super().__init__()
        self.config = config or AttentionConfig(hidden_dim=hidden_dim)
        dim, bias = self.config.hidden_dim, self.config.bias
        self.query_proj = nn.Linear(dim, dim, bias=bias)
        self.key_proj = nn.Linear(dim, dim, bias=bias)
        self.value_proj = nn.Linear(dim, dim, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        query: Tensor = self.query_proj(x)
        key: Tensor = self.key_proj(x)
        value: Tensor = self.value_proj(x)
        logits = query @ key.transpose(-2, -1)
        return (logits * self.config.scale).softmax(dim=-1) @ value
