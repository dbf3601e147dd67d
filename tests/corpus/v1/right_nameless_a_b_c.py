import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, n=728):
        super().__init__()
        self.a = nn.Linear(n, n)
        self.b = nn.Linear(n, n)
        self.c = nn.Linear(n, n)

    def forward(self, t):
        u = self.b(t) @ self.c(t).transpose(1, 2)
        u = u / t.shape[-1] ** .5
        return u.softmax(2) @ self.a(t)
