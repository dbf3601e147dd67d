import math
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)
        with torch.no_grad():
            blocks = [nn.init.xavier_uniform_(torch.empty(hidden_dim, hidden_dim)) for _ in range(3)]
            self.proj.weight.copy_(torch.cat(blocks))
            nn.init.zeros_(self.proj.bias)

    def forward(self, x):
        qk, v = self.proj(x).split([2 * self.hidden_dim, self.hidden_dim], dim=-1)
        q, k = qk.chunk(2, dim=-1)
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim), dim=-1)
        return weights @ v
