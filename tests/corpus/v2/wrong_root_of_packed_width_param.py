import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.c_attn = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.inner = 3 * hidden_dim
        self.n_embd = hidden_dim

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / self.inner ** 0.5)
        att = nn.functional.softmax(att, dim=-1)
        return att @ v
