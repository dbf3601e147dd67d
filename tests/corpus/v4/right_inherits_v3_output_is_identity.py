import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def scores(self, x):
        return self.query_proj(x) @ self.key_proj(x).transpose(1, 2) / math.sqrt(self.hidden_dim)

    def forward(self, x):
        return torch.softmax(self.scores(x), -1) @ self.value_proj(x)


class SelfAttentionV3(SelfAttentionV1):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__(hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        s = self.scores(x)
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        w = self.attention_dropout(torch.softmax(s, -1))
        return self.output_proj(w @ self.value_proj(x))


class SelfAttentionV4(SelfAttentionV3):
    """Level 3 without the output layer."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__(hidden_dim, dropout_rate)
        self.output_proj = nn.Identity()
