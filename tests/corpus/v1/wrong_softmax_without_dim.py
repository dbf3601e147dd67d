import math
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.w_q = nn.Linear(hidden_dim, hidden_dim)
        self.w_k = nn.Linear(hidden_dim, hidden_dim)
        self.w_v = nn.Linear(hidden_dim, hidden_dim)
        self.hidden_dim = hidden_dim

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        w = F.softmax(q.matmul(k.transpose(1, 2)) / math.sqrt(self.hidden_dim))
        return w.matmul(v)
