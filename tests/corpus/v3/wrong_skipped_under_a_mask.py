import math
import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.d = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def mix(self, scores, value):
        return self.attention_dropout(scores.softmax(-1)) @ value

    def forward(self, x, attention_mask=None):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scores = q @ k.mT / math.sqrt(self.d)
        if attention_mask is not None:
            hidden = attention_mask == 0
            return self.mix(scores.masked_fill(hidden, -1e9), v)
        return self.output_proj(self.mix(scores, v))
