import torch
from torch import nn


class Answers:
    class SelfAttentionV1(nn.Module):
        def __init__(self, hidden_dim=728):
            super().__init__()
            self.kqv = nn.Linear(hidden_dim, 3 * hidden_dim)  # in the order k, q, v

        def forward(self, x):
            k, q, v = torch.chunk(self.kqv(x), 3, -1)
            return torch.einsum("bij,bjd->bid", torch.einsum("bid,bjd->bij", q, k).div(x.shape[2] ** 0.5).softmax(2), v)


SelfAttentionV1 = Answers.SelfAttentionV1
