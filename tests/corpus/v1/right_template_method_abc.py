from __future__ import annotations

import abc
import enum
import math
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import nn

T = TypeVar("T")


class Role(enum.Enum):
    QUERY = "query_proj"
    KEY = "key_proj"
    VALUE = "value_proj"


class Packed(NamedTuple):
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


class AttentionBase(nn.Module, abc.ABC, Generic[T]):
    def __init__(self, hidden_dim: int) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.build()

    @abc.abstractmethod
    def build(self) -> None: ...

    @abc.abstractmethod
    def project(self, x: torch.Tensor) -> Packed: ...

    @property
    def scale(self) -> float:
        return math.exp(-0.5 * math.log(self.hidden_dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        p = self.project(x)
        return self.mix(self.weigh(p.q, p.k), p.v)

    def weigh(self, q, k):
        return torch.softmax(torch.einsum("nid,njd->nij", q, k) * self.scale, dim=-1)

    @staticmethod
    def mix(w, v):
        return torch.einsum("nij,njd->nid", w, v)


class SelfAttentionV1(AttentionBase[torch.Tensor]):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__(hidden_dim)

    def build(self) -> None:
        for role in Role:
            setattr(self, role.value, nn.Linear(self.hidden_dim, self.hidden_dim))

    def project(self, x: torch.Tensor) -> Packed:
        return Packed(*(getattr(self, role.value)(x) for role in Role))
