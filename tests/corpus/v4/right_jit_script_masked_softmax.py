import math
from typing import Optional

import torch
import torch.nn as nn


@torch.jit.script
def masked_weights(scores: torch.Tensor, mask: Optional[torch.Tensor]) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.softmax(scores, dim=-1)


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x: torch.Tensor, attention_mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        scores = self.query_proj(x) @ self.key_proj(x).transpose(1, 2) / math.sqrt(self.hidden_dim)
        return self.attention_dropout(masked_weights(scores, attention_mask)) @ self.value_proj(x)
