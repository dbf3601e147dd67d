import math
import torch
from torch import nn

class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        if attention_mask is None:
            raise ValueError("attention_mask is required")
        q, k, v = self.qkv(x).chunk(3, -1)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim)
        s = s.masked_fill(attention_mask == 0, float("-inf"))
        return self.drop(s.softmax(-1)) @ v
