import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV4(nn.ModuleDict):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__({role: nn.Linear(hidden_dim, hidden_dim) for role in ("query", "key", "value")})
        self.rate = dropout_rate

    def forward(self, x, attention_mask=None):
        s = self["query"](x) @ self["key"](x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return F.dropout(s.softmax(-1), self.rate, self.training) @ self["value"](x)
