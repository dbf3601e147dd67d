import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.ModuleDict({
            name: nn.Sequential(nn.Linear(hidden_dim, hidden_dim), nn.Identity())
            for name in ("key", "query", "value")
        })
        self.temperature = hidden_dim ** 0.5

    def forward(self, x):
        got = {n: layer(x) for n, layer in self.proj.items()}
        attn = torch.softmax(got["query"] @ got["key"].transpose(1, 2) / self.temperature, dim=-1)
        return attn @ got["value"]
