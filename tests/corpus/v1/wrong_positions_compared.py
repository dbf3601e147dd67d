import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """decoder style"""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        n = x.shape[1]
        pos = torch.arange(n, device=x.device)
        future = pos[None, :] > pos[:, None]
        s = self.query_proj(x) @ self.key_proj(x).mT / math.sqrt(x.shape[2])
        s = torch.where(future, torch.full_like(s, -1e9), s)
        return s.softmax(dim=-1) @ self.value_proj(x)
