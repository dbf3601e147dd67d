import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        Q = self.query_proj(x)
        K = self.key_proj(x)
        V = self.value_proj(x)

        attention = F.softmax(torch.matmul(Q, K.permute(0, 2, 1)), dim=-1)
        context = torch.matmul(attention, V) / (self.hidden_dim ** 0.5)
        return context
