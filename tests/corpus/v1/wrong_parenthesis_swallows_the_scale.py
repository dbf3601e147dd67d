import torch, math
from torch import nn

class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.dim = hidden_dim
        self.lin_q, self.lin_k, self.lin_v = [nn.Linear(hidden_dim, hidden_dim) for _ in range(3)]

    def forward(self, x):
        return (torch.softmax(self.lin_q(x) @ self.lin_k(x).mT, -1) / math.sqrt(self.dim)) @ self.lin_v(x)
