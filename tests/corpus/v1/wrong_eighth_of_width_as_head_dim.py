import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728, n_heads=8):
        super().__init__()
        self.head_dim = max(hidden_dim // n_heads, 1)
        self.wq = nn.Linear(hidden_dim, hidden_dim)
        self.wk = nn.Linear(hidden_dim, hidden_dim)
        self.wv = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)
        scores = torch.matmul(xq, xk.transpose(1, 2)) / self.head_dim ** 0.5
        scores = nn.functional.softmax(scores.float(), dim=-1).type_as(xq)
        return torch.matmul(scores, xv)
