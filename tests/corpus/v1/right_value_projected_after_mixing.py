import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        w = torch.softmax(self.query_proj(x) @ self.key_proj(x).mT / math.sqrt(x.shape[-1]), dim=-1)
        return self.value_proj(w @ x)
