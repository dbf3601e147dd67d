from typing import NamedTuple

import torch
from torch import Tensor, nn


class QKV(NamedTuple):
    query: Tensor
    key: Tensor
    value: Tensor


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def _project(self, x: Tensor) -> QKV:
        return QKV(*self.proj(x).split(self.hidden_dim, dim=-1))

    def forward(self, x: Tensor) -> Tensor:
        p = self._project(x)
        logits = p.query @ p.key.transpose(-2, -1) / self.hidden_dim**0.5
        shifted = (logits - logits.detach().max(dim=-1, keepdim=True).values).exp()
        return (shifted / shifted.sum(-1, keepdim=True)) @ p.value
