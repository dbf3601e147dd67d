import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.d = hidden_dim
        self.proj = nn.Conv1d(3 * hidden_dim, 3 * hidden_dim, 1, groups=3)  # weight (3 * D, D, 1)

    def forward(self, x):
        h = self.proj(torch.cat([x.mT] * 3, dim=1))
        q, k, v = (part.mT for part in h.tensor_split(3, dim=1))
        return torch.bmm(torch.softmax(torch.bmm(q, k.mT) / self.d**0.5, dim=2), v)
