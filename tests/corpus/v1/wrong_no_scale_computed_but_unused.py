import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    """Self attention, single head."""

    def __init__(self, hidden_dim: int = 728) -> None:
        super(SelfAttentionV1, self).__init__()
        self.scale = 1.0 / math.sqrt(hidden_dim)
        self.W_Q = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.02)
        self.W_K = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.02)
        self.W_V = nn.Parameter(torch.randn(hidden_dim, hidden_dim) * 0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Q = x @ self.W_Q
        K = x @ self.W_K
        V = x @ self.W_V
        A = torch.softmax(torch.bmm(Q, K.transpose(1, 2)), dim=-1)
        return torch.bmm(A, V)
