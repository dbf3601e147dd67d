import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(hidden_dim, hidden_dim) / 30)
        self.w2 = nn.Parameter(torch.randn(hidden_dim, hidden_dim) / 30)
        self.w3 = nn.Parameter(torch.randn(hidden_dim, hidden_dim) / 30)
        self.w4 = nn.Parameter(torch.randn(hidden_dim, hidden_dim) / 30)
        self.rate = dropout_rate

    def forward(self, x, attention_mask=None):
        s = (x @ self.w1) @ (x @ self.w2).transpose(1, 2) / math.sqrt(x.size(-1))
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        return F.dropout(s.softmax(-1), self.rate, self.training) @ (x @ self.w3) @ self.w4
