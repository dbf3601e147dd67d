import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.layers = [nn.Linear(hidden_dim, hidden_dim) for _ in range(3)]

    def forward(self, x):
        q, k, v = [f(x) for f in self.layers]
        return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(x.shape[-1]), dim=-1) @ v
