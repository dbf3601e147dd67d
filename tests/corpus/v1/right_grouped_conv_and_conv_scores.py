import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV1(nn.Module):
    """Convolutions all the way: k=1 convs project, a grouped conv per sample scores and mixes."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Conv1d(hidden_dim, hidden_dim, 1)
        self.key_proj = nn.Conv1d(hidden_dim, hidden_dim, 1)
        self.value_proj = nn.Conv1d(hidden_dim, hidden_dim, 1)

    def forward(self, x):
        B, S, D = x.shape
        c = x.mT
        q, k, v = self.query_proj(c), self.key_proj(c), self.value_proj(c)  # (B, D, S)
        filters = k.mT.reshape(B * S, D, 1)  # every key is a filter
        s = F.conv1d(q.reshape(1, B * D, S), filters, groups=B).view(B, S, S)  # (B, key, query)
        p = torch.softmax(s / D**0.5, dim=1)
        mixed = F.conv1d(p.reshape(1, B * S, S), v.reshape(B * D, S, 1), groups=B).view(B, D, S)
        return mixed.mT
