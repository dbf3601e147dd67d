import math
import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        x.unsqueeze_(1)  # (batch, 1, seq_len, hidden_dim): one head
        query = self.query_proj(x)
        key = self.key_proj(x)
        value = self.value_proj(x)
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.hidden_dim)
        weights = torch.softmax(scores, dim=-1)
        return (weights @ value).squeeze(1)
