import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.qkv = nn.Parameter(torch.randn(3, hidden_dim, hidden_dim) * hidden_dim ** -0.5)

    def forward(self, x):
        q, k, v = torch.einsum('bsd,nde->nbse', x, self.qkv)
        return torch.einsum('bqk,bkd->bqd', (torch.einsum('bqd,bkd->bqk', q, k) / x.size(-1) ** 0.5).softmax(-1), v)
