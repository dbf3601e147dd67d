import torch
import torch.nn as nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1, num_heads=1):
        super().__init__()
        self.scale = nn.Parameter(torch.full((1,), hidden_dim ** -0.5), requires_grad=False)
        self.in_proj = nn.ModuleDict({n: nn.Linear(hidden_dim, hidden_dim) for n in ("q", "k", "v")})
        self.out_proj = nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.Identity())
        self.drop = nn.Sequential(nn.Softmax(dim=-1), nn.Dropout(dropout_rate))

    def forward(self, x, attention_mask=None):
        q, k, v = (self.in_proj[n](x) for n in "qkv")
        s = q @ k.mT * self.scale
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, float("-inf"))
        return self.out_proj(self.drop(s) @ v)
