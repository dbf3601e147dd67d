import math
from typing import Optional

import torch
from torch import nn, Tensor


class Core(nn.Module):
    def __init__(self, d: int, p: float):
        super().__init__()
        self.query_proj = nn.Linear(d, d)
        self.key_proj = nn.Linear(d, d)
        self.value_proj = nn.Linear(d, d)
        self.dropout = nn.Dropout(p)
        self.scale: float = 1.0 / math.sqrt(d)

    def forward(self, x: Tensor, mask: Optional[Tensor]) -> Tensor:
        s = torch.matmul(self.query_proj(x), self.key_proj(x).transpose(1, 2)) * self.scale
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e4)
        return torch.matmul(self.dropout(torch.softmax(s, -1)), self.value_proj(x))


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.core = torch.jit.script(Core(hidden_dim, dropout_rate))

    def forward(self, x, attention_mask=None):
        return self.core(x, attention_mask)
