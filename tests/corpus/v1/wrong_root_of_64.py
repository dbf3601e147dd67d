import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.Q = nn.Linear(hidden_dim, hidden_dim)
        self.K = nn.Linear(hidden_dim, hidden_dim)
        self.V = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.Q(x), self.K(x), self.V(x)
        score = torch.matmul(q, k.transpose(-1, -2)) / 64 ** 0.5
        return torch.matmul(F.softmax(score, dim=-1), v)
