import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        eye = torch.eye(3 * hidden_dim)
        self.register_buffer("select", eye.view(3 * hidden_dim, 3, hidden_dim).permute(1, 0, 2).contiguous())

    def forward(self, x):
        q, k, v = self.proj(x).unsqueeze(0) @ self.select.unsqueeze(1)
        s = q @ k.permute(0, 2, 1)
        return nn.functional.softmax(s / (q.shape[-1] ** 0.5), dim=2) @ v
