import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.w = nn.ParameterDict({c: nn.Parameter(torch.randn(hidden_dim, hidden_dim) / hidden_dim ** 0.5) for c in 'vkq'})

    def forward(self, x):
        q, k, v = (torch.einsum('bsd,de->bse', x, self.w[c]) for c in 'qkv')
        a = torch.einsum('bqe,bke->bqk', q, k)
        a = torch.softmax(a * x.shape[-1] ** -0.5, dim=-1)
        return torch.einsum('bqk,bke->bqe', a, v)
