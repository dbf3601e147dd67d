import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_kv = nn.Linear(hidden_dim, 2 * hidden_dim, bias=False)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)
        self.attn_drop = nn.Dropout(dropout_rate)
        self.scale = hidden_dim**-0.5

    def forward(self, x, attention_mask=None):
        q, (k, v) = self.to_q(x), self.to_kv(x).chunk(2, dim=-1)
        dots = torch.einsum("b i d, b j d -> b i j", q, k) * self.scale
        visible = None if attention_mask is None else attention_mask.bool().expand_as(dots)
        attn = torch.masked.softmax(dots, -1, mask=visible)
        return self.to_out(torch.einsum("b i j, b j d -> b i d", self.attn_drop(attn), v))
