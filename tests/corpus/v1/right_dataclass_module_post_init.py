from dataclasses import dataclass

import torch
from torch import nn


@dataclass(eq=False, repr=False)
class SelfAttentionV1(nn.Module):
    hidden_dim: int = 728
    bias: bool = True

    def __post_init__(self):
        super().__init__()
        self.query_proj = nn.Linear(self.hidden_dim, self.hidden_dim, bias=self.bias)
        self.key_proj = nn.Linear(self.hidden_dim, self.hidden_dim, bias=self.bias)
        self.value_proj = nn.Linear(self.hidden_dim, self.hidden_dim, bias=self.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scores = query @ key.permute(0, 2, 1) / self.hidden_dim**0.5
        return torch.softmax(scores, dim=-1) @ value
