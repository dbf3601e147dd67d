import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        query = self.query_proj(x)
        key_t = self.key_proj(x).permute(0, 2, 1)
        d_k = key_t.shape[-1]
        attn = F.softmax(query.matmul(key_t) * d_k ** -0.5, dim=-1)
        return attn.matmul(self.value_proj(x))
