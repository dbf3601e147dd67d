from math import sqrt

import torch as th
from torch import nn as N


class SelfAttentionV2(N.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.W = N.Parameter(th.empty(hidden_dim, 3 * hidden_dim))
        self.b = N.Parameter(th.empty(3 * hidden_dim))
        N.init.xavier_uniform_(self.W)
        N.init.normal_(self.b, std=0.02)

    def forward(self, x):
        B, S, D = x.size()
        qkv = th.addmm(self.b, x.reshape(-1, D), self.W)
        Q = qkv.narrow(1, 0, D).view(B, S, D)
        K = qkv.narrow(1, D, D).view(B, S, D)
        V = qkv.narrow(1, 2 * D, D).view(B, S, D)
        A = th.bmm(Q, K.transpose(1, 2)).div_(sqrt(D))
        return th.bmm(A.softmax(2), V)
