import torch
from torch import nn


class Group(nn.Module):
    def __init__(self, hidden_dim, repeats, head_dim, rate):
        super().__init__()
        self.repeats, self.head_dim = repeats, head_dim
        self.q = nn.Linear(hidden_dim, repeats * head_dim)
        self.k = nn.Linear(hidden_dim, head_dim)
        self.v = nn.Linear(hidden_dim, head_dim)
        self.drop = nn.Dropout(rate)

    def forward(self, x, mask):
        q = self.q(x).unflatten(-1, (self.repeats, self.head_dim)).transpose(1, 2)
        s = q @ self.k(x).unsqueeze(1).mT / self.head_dim ** 0.5
        if mask is not None:
            s = s.masked_fill(mask.unsqueeze(1) == 0, float("-inf"))
        return (self.drop(s.softmax(-1)) @ self.v(x).unsqueeze(1)).transpose(1, 2).flatten(2)


class GroupedQueryAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, num_kv_heads=4, dropout_rate=0.0):
        super().__init__()
        assert hidden_dim % num_heads == 0 and num_heads % num_kv_heads == 0
        d, r = hidden_dim // num_heads, num_heads // num_kv_heads
        self.groups = nn.ModuleList(Group(hidden_dim, r, d, dropout_rate) for _ in range(num_kv_heads))
        self.out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        return self.out(torch.cat([group(x, attention_mask) for group in self.groups], dim=-1))
