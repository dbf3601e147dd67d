import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        wq, wk, wv = self.proj.weight.chunk(3)
        bq, bk, bv = self.proj.bias.chunk(3)
        q, k, v = F.linear(x, wq, bq), F.linear(x, wk, bk), F.linear(x, wv, bv)
        return F.softmax(q @ k.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1) @ v
