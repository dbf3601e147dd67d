import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.scale = hidden_dim ** -0.5
        self.fc_q = nn.Linear(hidden_dim, hidden_dim)
        self.fc_k = nn.Linear(hidden_dim, hidden_dim)
        self.fc_v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.fc_q(x), self.fc_k(x), self.fc_k(x)
        return (q @ k.transpose(-2, -1) * self.scale).softmax(-1) @ v
