from functools import singledispatchmethod

import torch
from torch import Tensor, nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    @singledispatchmethod
    def hide(self, mask, scores: Tensor) -> Tensor:
        raise TypeError(f"a mask of type {type(mask).__name__}")

    @hide.register
    def _(self, mask: None, scores: Tensor) -> Tensor:
        return scores

    @hide.register
    def _(self, mask: Tensor, scores: Tensor) -> Tensor:
        return scores.masked_fill(torch.logical_not(mask), torch.finfo(scores.dtype).min)

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        scores = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        weights = torch.softmax(self.hide(attention_mask, scores), dim=-1)
        return self.output_proj(self.attention_dropout(weights) @ self.value_proj(x))
