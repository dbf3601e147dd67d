import torch
from torch import nn

aten = torch.ops.aten


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        s = aten.bmm(q, aten.transpose(k, 1, 2))
        s = aten.div(s, x.shape[-1] ** 0.5)
        return aten.bmm(aten.softmax(s, -1), v)
