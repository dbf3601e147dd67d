import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV4(nn.Module):
    def __init__(self, *, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        for name in "qkv":
            self.register_parameter(f"w_{name}", nn.Parameter(torch.randn(hidden_dim, hidden_dim) / math.sqrt(hidden_dim)))
            self.register_parameter(f"b_{name}", nn.Parameter(torch.zeros(hidden_dim)))
        self.dropout_rate = dropout_rate

    def forward(self, x, attention_mask=None):
        q, k, v = (torch.matmul(x, getattr(self, f"w_{n}")) + getattr(self, f"b_{n}") for n in "qkv")
        s = torch.matmul(q, k.mT) / math.sqrt(q.size(-1))
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        return torch.matmul(F.dropout(F.softmax(s, -1), p=self.dropout_rate, training=self.training), v)
