import math
import torch
from torch import nn


class AttentionCore(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.hidden_dim = hidden_dim

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ self.value_proj(x)


class SelfAttentionV3(AttentionCore):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.output_proj = nn.Linear(self.hidden_dim, self.hidden_dim)

    def forward(self, *args, **kwargs):
        return self.output_proj(super().forward(*args, **kwargs))
