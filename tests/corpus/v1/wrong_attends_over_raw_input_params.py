import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.Wq = nn.Parameter(torch.empty(hidden_dim, hidden_dim))
        self.Wk = nn.Parameter(torch.empty(hidden_dim, hidden_dim))
        self.Wv = nn.Parameter(torch.empty(hidden_dim, hidden_dim))
        for w in (self.Wq, self.Wk, self.Wv):
            nn.init.xavier_uniform_(w)

    def attention(self, query, key, value):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
        return torch.matmul(scores.softmax(dim=-1), value)

    def forward(self, x):
        return self.attention(x, x, x)
