import math
import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        q = self.query_proj(x)  # (B, S, D) = (B, S, D) @ (D, D) + (D,)
        k = self.key_proj(x)  # same, a (B, S, D) tensor
        v = self.value_proj(x)  # every row of (S, D) is the value of a token
        s = q @ k.mT  # (B, S, S) = (B, S, D) @ (B, D, S)
        s = s / math.sqrt(x.shape[-1])  # entry [i, j]: how much query i likes key j
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        w = self.attention_dropout(s.softmax(-1))  # each row [b, s] sums to 1 over (b, s, t)
        return self.output_proj(w @ v)  # (B, S, S) @ (B, S, D)
