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
        s = q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim)
        w = torch.softmax(s, dim=-1)
        return torch.bmm(v, w)
