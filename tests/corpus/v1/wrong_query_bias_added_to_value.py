import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q = x @ self.query_proj.weight.T + self.query_proj.bias
        k = x @ self.key_proj.weight.T + self.key_proj.bias
        v = x @ self.value_proj.weight.T + self.query_proj.bias
        a = torch.softmax(q @ k.mT / math.sqrt(x.size(-1)), dim=-1)
        return a @ v
