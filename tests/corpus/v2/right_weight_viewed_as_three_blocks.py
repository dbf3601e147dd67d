import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)

    def forward(self, x):
        w = self.proj.weight.view(3, self.hidden_dim, self.hidden_dim)
        b = self.proj.bias.view(3, 1, 1, self.hidden_dim)
        q, k, v = torch.einsum('bsd,ced->cbse', x, w) + b
        return torch.softmax(q @ k.transpose(-1, -2) / self.hidden_dim ** 0.5, -1) @ v
