import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.d = hidden_dim
        self.p = dropout_rate
        self.Wq = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.05)
        self.Wk = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.05)
        self.Wv = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.05)
    def forward(self, x, attention_mask=None):
        q, k, v = x @ self.Wq, x @ self.Wk, x @ self.Wv
        s = q @ k.mT / math.sqrt(self.d)
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        w = s.softmax(-1)
        F.dropout(w, self.p, self.training, inplace=True)
        return w @ v
