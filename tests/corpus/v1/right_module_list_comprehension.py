import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(hidden_dim, hidden_dim) for _ in range(3)])
        self.d_k = hidden_dim

    def forward(self, x):
        query, key, value = [l(t) for l, t in zip(self.linears, (x, x, x))]
        scores = torch.matmul(query, key.transpose(-2, -1)) / self.d_k ** 0.5
        p_attn = scores.softmax(dim=-1)
        return torch.matmul(p_attn, value)
