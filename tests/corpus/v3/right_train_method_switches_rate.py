import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV3(nn.Module):
    """Keeps the rate that is in force in a field; train() and eval() set it."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.dropout_rate = dropout_rate
        self.rate_now = dropout_rate

    def train(self, mode=True):
        self.rate_now = self.dropout_rate if mode else 0.0
        return super().train(mode)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        w = F.dropout(s.softmax(-1), p=self.rate_now)
        return self.output_proj(w @ self.value_proj(x))
