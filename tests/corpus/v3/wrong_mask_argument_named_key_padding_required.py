import math
import torch
from torch import nn

class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, key_padding_mask):
        q, k, v = self.qkv(x).chunk(3, -1)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim)
        s = s.masked_fill(key_padding_mask[:, None, :] == 0, float("-inf"))
        return self.output_proj(self.attention_dropout(s.softmax(-1)) @ v)
