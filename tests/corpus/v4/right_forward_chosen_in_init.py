import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1, fused_bias=False):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.forward = self._with_bias if fused_bias else self._with_fill

    def _with_fill(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ self.value_proj(x)

    def _with_bias(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s + torch.where(attention_mask != 0, 0.0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ self.value_proj(x)
