import math
import torch
from torch import nn
from torch.nn import functional as F


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        make = lambda *s: nn.Parameter(torch.empty(*s).uniform_(-0.1, 0.1))
        self.wq, self.bq = make(hidden_dim, hidden_dim), make(hidden_dim)
        self.wk, self.bk = make(hidden_dim, hidden_dim), make(hidden_dim)
        self.wv, self.bv = make(hidden_dim, hidden_dim), make(hidden_dim)

    def forward(self, x):
        q = F.linear(x, self.wq, self.bq)
        k = F.linear(x, self.wk, self.bk)
        v = F.linear(x, self.wv, self.bv)
        return F.softmax(q.matmul(k.mT).mul(1 / math.sqrt(x.shape[-1])), dim=-1).matmul(v)
