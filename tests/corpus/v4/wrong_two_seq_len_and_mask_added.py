import math
import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(hidden_dim, hidden_dim) for _ in range(3)])
        self.drop = nn.Dropout(dropout_rate)
    def forward(self, x, attention_mask=None):
        q, k, v = (f(x) for f in self.layers)
        s = q @ k.transpose(1, 2) / math.sqrt(x.size(1))
        if attention_mask is not None:
            s = s + attention_mask
        return self.drop(s.softmax(-1)) @ v
