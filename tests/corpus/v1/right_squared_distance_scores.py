# softmax is shift invariant, q·k = (|q|^2 + |k|^2 - |q-k|^2)/2 and |q|^2 is constant in a row
import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.wq = nn.Linear(hidden_dim, hidden_dim)
        self.wk = nn.Linear(hidden_dim, hidden_dim)
        self.wv = nn.Linear(hidden_dim, hidden_dim)
        self.temperature = math.sqrt(hidden_dim)

    def forward(self, x):
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        d2 = (q[:, :, None, :] - k[:, None, :, :]).pow(2).sum(-1)  # (B,S,S)
        k2 = k.pow(2).sum(-1)[:, None, :]  # (B,1,S)
        scores = (k2 - d2) / (2 * self.temperature)
        return torch.bmm(scores.softmax(-1), v)
