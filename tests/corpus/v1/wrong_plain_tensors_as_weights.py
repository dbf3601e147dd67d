import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.W_q = torch.randn(hidden_dim, hidden_dim)
        self.W_k = torch.randn(hidden_dim, hidden_dim)
        self.W_v = torch.randn(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(x.shape[-1]), dim=-1) @ v
