import math
import torch
import torch.nn as nn


class _Base(nn.Module):
    def forward(self, x):
        q, k, v = self.project(x)
        return self.mix(self.weights(q, k), v)

    def weights(self, q, k):
        return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]), dim=-1)

    def mix(self, w, v):
        return w @ v


def build():
    class SelfAttentionV1(_Base):
        def __init__(self, hidden_dim=728):
            super().__init__()
            self.key_proj = nn.Linear(hidden_dim, hidden_dim)
            self.query_proj = nn.Linear(hidden_dim, hidden_dim)
            self.value_proj = nn.Linear(hidden_dim, hidden_dim)

        def project(self, x):
            return self.query_proj(x), self.key_proj(x), self.value_proj(x)

    return SelfAttentionV1


SelfAttentionV1 = build()
