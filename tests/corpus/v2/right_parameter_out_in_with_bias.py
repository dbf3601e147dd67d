import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV2(nn.Module):
    def __init__(self, embed_dim=728):
        super().__init__()
        self.embed_dim = embed_dim
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, x):
        qkv = F.linear(x, self.in_proj_weight, self.in_proj_bias)
        q, k, v = qkv.split(self.embed_dim, dim=-1)
        q = q * self.embed_dim ** -0.5
        return torch.bmm(F.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1), v)
