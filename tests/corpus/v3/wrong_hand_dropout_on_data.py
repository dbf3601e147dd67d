import math
import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.scale = 1 / math.sqrt(hidden_dim)
        self.p = dropout_rate
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def attention_dropout(self, w):
        if not self.training or self.p == 0:
            return w
        keep = torch.rand(w.shape, device=w.device) >= self.p
        return w.data * keep / (1 - self.p)

    def forward(self, x, attention_mask=None):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        s = q @ k.mT * self.scale
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        w = self.attention_dropout(s.softmax(-1))
        return self.output_proj(w @ v)
