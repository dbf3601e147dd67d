import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, embed_dim: int = 728):
        super().__init__()
        self.embed_dim = embed_dim
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        q = self.query(x)
        k = self.key(x)
        v = self.value(x)
        # dimensionality of the keys
        d_k = k.size(-1)
        scores = torch.bmm(q, k.transpose(1, 2)) / d_k
        weights = scores.softmax(dim=-1)
        return torch.bmm(weights, v)
