import numpy as np
import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.rng = np.random.default_rng(1234)
        self.dropout_rate = dropout_rate

    def attention_dropout(self, w):
        if not self.training or self.dropout_rate == 0:
            return w
        keep = self.rng.random(tuple(w.shape)) >= self.dropout_rate
        return w * torch.from_numpy(keep).to(w) / (1 - self.dropout_rate)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.size(-1) ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.output_proj(self.attention_dropout(s.softmax(-1)) @ self.value_proj(x))
