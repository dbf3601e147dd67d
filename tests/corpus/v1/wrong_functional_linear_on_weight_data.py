import math
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        def apply(layer):
            return F.linear(x, layer.weight.data, layer.bias.data)

        q, k, v = map(apply, (self.query_proj, self.key_proj, self.value_proj))
        a = torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=-1)
        return a @ v
