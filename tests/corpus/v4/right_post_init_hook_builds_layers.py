import torch
from torch import nn


class Meta(type):
    """Calls build() after __init__."""

    def __call__(cls, *args, **kwargs):
        obj = super().__call__(*args, **kwargs)
        obj.build()
        return obj


class SelfAttentionV4(nn.Module, metaclass=Meta):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim, self.dropout_rate = hidden_dim, dropout_rate

    def build(self):
        self.Q, self.K, self.V = [nn.Linear(self.hidden_dim, self.hidden_dim) for _ in "QKV"]
        self.drop = nn.Dropout(self.dropout_rate)

    def forward(self, x, attention_mask=None):
        s = self.Q(x) @ self.K(x).mT / self.hidden_dim**0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.drop(s.softmax(-1)) @ self.V(x)
