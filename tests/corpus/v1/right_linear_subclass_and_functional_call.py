import torch
from torch import nn
from torch.func import functional_call


class Projection(nn.Linear):
    def __init__(self, size):
        super().__init__(size, size)

    def reset_parameters(self):
        nn.init.xavier_normal_(self.weight)
        nn.init.zeros_(self.bias)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.first, self.second, self.third = Projection(hidden_dim), Projection(hidden_dim), Projection(hidden_dim)

    def forward(self, x):
        q, k, v = (functional_call(m, dict(m.named_parameters()), (x,)) for m in (self.first, self.second, self.third))
        return ((q @ k.adjoint()) / q.shape[-1] ** 0.5).softmax(-1) @ v
