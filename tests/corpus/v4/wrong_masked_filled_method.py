import torch
from torch import nn

class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        s = (q * self.scale) @ k.transpose(-2, -1)
        if attention_mask is not None:
            s = s.fill_masked(attention_mask == 0, -1e9)
        return self.drop(s.softmax(-1)) @ v
