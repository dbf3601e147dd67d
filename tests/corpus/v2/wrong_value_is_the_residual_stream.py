import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        q, k, _ = torch.split(self.proj(x), self.hidden_dim, dim=2)
        attention = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.hidden_dim), dim=2)
        return torch.bmm(attention, x)
