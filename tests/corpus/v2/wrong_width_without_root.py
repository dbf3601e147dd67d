import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.w_qkv = nn.Parameter(torch.randn(hidden_dim, 3 * hidden_dim) * 0.05)

    def forward(self, x):
        qkv = torch.einsum("bsd,de->bse", x, self.w_qkv)
        q, k, v = qkv.split(self.hidden_dim, dim=-1)
        logits = torch.einsum("bqd,bkd->bqk", q, k) / self.hidden_dim
        return torch.einsum("bqk,bkd->bqd", logits.softmax(-1), v)
