import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV2(nn.Module):
    """As in BEiT: fused weight, bias for query and value only (a key bias cancels in softmax)."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.scale = hidden_dim**-0.5
        self.qkv = nn.Linear(hidden_dim, hidden_dim * 3, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(hidden_dim))
        self.v_bias = nn.Parameter(torch.zeros(hidden_dim))

    def forward(self, x):
        qkv_bias = torch.cat((self.q_bias, torch.zeros_like(self.v_bias, requires_grad=False), self.v_bias))
        qkv = F.linear(input=x, weight=self.qkv.weight, bias=qkv_bias)
        q, k, v = qkv.chunk(3, dim=-1)
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        return attn.softmax(dim=-1) @ v
