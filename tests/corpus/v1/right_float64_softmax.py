import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        s = self.query_proj(x).double() @ self.key_proj(x).double().transpose(1, 2)
        s /= x.shape[-1] ** 0.5
        w = torch.softmax(s, dim=-1, dtype=torch.float64).to(x.dtype)
        return w @ self.value_proj(x)
