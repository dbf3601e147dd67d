import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.k1 = nn.Linear(hidden_dim, hidden_dim, bias=False)  # kernel 1: query
        self.k2 = nn.Linear(hidden_dim, hidden_dim, bias=False)  # kernel 2: key
        self.k3 = nn.Linear(hidden_dim, hidden_dim, bias=False)  # kernel 3: value
        self.rate = dropout_rate

    def forward(self, x, attention_mask=None):
        s = torch.bmm(self.k1(x), self.k2(x).transpose(1, 2)) / x.shape[2] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return torch.bmm(F.dropout(s.softmax(2), self.rate, self.training), self.k3(x))
