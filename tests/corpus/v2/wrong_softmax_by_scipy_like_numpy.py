import numpy as np
import torch
import torch.nn as nn


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        q, k, v = self.proj(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / np.sqrt(self.hidden_dim)
        weights = torch.from_numpy(softmax(scores.detach().numpy()))
        return weights @ v
