import torch
from torch import nn
from torch.distributions import Categorical


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        q, k, v = (layer(x) for layer in (self.q, self.k, self.v))
        scores = q.matmul(k.transpose(1, 2)).mul(q.shape[-1] ** -0.5)
        attention = Categorical(logits=scores)  # a distribution over keys for each query
        return attention.probs.matmul(v)
