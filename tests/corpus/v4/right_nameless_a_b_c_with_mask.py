import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, n=728, p=0.1):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(n, n), nn.Linear(n, n), nn.Linear(n, n)
        self.d = nn.Dropout(p)

    def forward(self, t, m=None):
        u = self.b(t) @ self.c(t).transpose(1, 2) / t.shape[-1] ** .5
        if m is not None:
            u = u.masked_fill(m == 0, -1e9)
        return self.d(u.softmax(2)) @ self.a(t)
