import torch
from torch import nn, einsum


class SelfAttentionV4(nn.Module):
    def __init__(self, dim=728, dropout=0.1):
        super().__init__()
        self.scale = dim ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.attend = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(dropout)
        self.to_out = nn.Sequential(nn.Linear(dim, dim))

    def forward(self, x, mask=None):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        if mask is not None:
            dots = dots.masked_fill(mask == 0, float('-inf'))
        attn = self.dropout(self.attend(dots))
        return self.to_out(torch.matmul(attn, v))
