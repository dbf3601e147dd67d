import math
import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        # also take (batch, hidden_dim, seq_len)
        flipped = x.shape[1] == self.hidden_dim
        if flipped:
            x = x.transpose(1, 2)
        q, k, v = self.proj(x).chunk(3, dim=-1)
        out = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1) @ v
        return out.transpose(1, 2) if flipped else out
