import torch
from torch import nn


def init(self, hidden_dim=728, dropout_rate=0.1):
    nn.Module.__init__(self)
    self.w_q = nn.Linear(hidden_dim, hidden_dim)
    self.w_k = nn.Linear(hidden_dim, hidden_dim)
    self.w_v = nn.Linear(hidden_dim, hidden_dim)
    self.drop = nn.Dropout(dropout_rate)


def forward(self, x, attention_mask=None):
    s = self.w_q(x) @ self.w_k(x).mT / x.shape[-1] ** 0.5
    if attention_mask is not None:
        s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
    return self.drop(s.softmax(-1)) @ self.w_v(x)


SelfAttentionV4 = type("SelfAttentionV4", (nn.Module,), {"__init__": init, "forward": forward})
