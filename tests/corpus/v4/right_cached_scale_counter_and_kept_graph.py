import functools
import math
import warnings

import torch
from torch import nn


@functools.lru_cache(maxsize=None)
def everything_visible(seq_len, device):
    return torch.ones(1, seq_len, seq_len, dtype=torch.bool, device=device)


class SelfAttentionV4(nn.Module):
    last_weights = None

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.calls = 0

    @functools.cached_property
    def scale(self):
        return math.pow(self.hidden_dim, -0.5)

    def forward(self, x, attention_mask=None):
        self.calls += 1
        if attention_mask is None:
            attention_mask = everything_visible(x.shape[1], x.device)
        if not attention_mask.any():
            warnings.warn("everything is hidden")
        s = self.query_proj(x) @ self.key_proj(x).mT * self.scale
        s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        self.last_weights = w = s.softmax(-1)
        if w.requires_grad:
            w.retain_grad()
        return self.attention_dropout(w) @ self.value_proj(x)
