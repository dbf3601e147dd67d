from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass(frozen=True, slots=True)
class Config:
    hidden_dim: int = 728
    bias: bool = True
    extras: dict = field(default_factory=dict)


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728, *, config: Config | None = None) -> None:
        super().__init__()
        self.config = config or Config(hidden_dim)
        d = self.config.hidden_dim
        self.proj = nn.Linear(d, 3 * d, bias=self.config.bias)

    @classmethod
    def from_config(cls, config: Config) -> "SelfAttentionV2":
        return cls(config=config)

    def extra_repr(self) -> str:
        return f"config={self.config}"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if (packed := self.proj(x)).dim() != 3:
            raise ValueError("x must be (batch, seq_len, hidden_dim)")
        match packed.tensor_split(3, dim=2):
            case (q, k, v):
                pass
        s = q @ k.mT * self.config.hidden_dim**-0.5
        return s.softmax(-1) @ v
