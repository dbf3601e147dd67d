import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    """Mixes x and projects afterwards; the bias of value is weighted by what dropout left of each row."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.size(-1) ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        w = self.attention_dropout(s.softmax(-1))
        mixed = F.linear(w @ x, self.value_proj.weight) + w.sum(-1, keepdim=True) * self.value_proj.bias
        return self.output_proj(mixed)
