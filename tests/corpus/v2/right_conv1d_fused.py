import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.to_qkv = nn.Conv1d(hidden_dim, hidden_dim * 3, 1)

    def forward(self, x):
        q, k, v = self.to_qkv(x.transpose(1, 2)).chunk(3, dim=1)
        w = torch.einsum('bct,bcs->bts', q * q.shape[1] ** -0.5, k).softmax(dim=-1)
        return torch.einsum('bts,bcs->btc', w, v)
