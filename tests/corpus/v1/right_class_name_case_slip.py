import torch
from torch import nn

class selfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        return torch.softmax(q @ k.mT / q.size(-1) ** 0.5, dim=-1) @ v
