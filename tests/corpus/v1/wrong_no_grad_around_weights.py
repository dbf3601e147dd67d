import torch
from torch import nn

class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.q_lin = nn.Linear(hidden_dim, hidden_dim)
        self.k_lin = nn.Linear(hidden_dim, hidden_dim)
        self.v_lin = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        with torch.no_grad():
            q = self.q_lin(x)
            k = self.k_lin(x)
            w = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1)
        return w @ self.v_lin(x)
