import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        k_t = k[0].t()
        scores = torch.matmul(q, k_t) / math.sqrt(self.hidden_dim)
        return torch.matmul(scores.softmax(dim=-1), v)
