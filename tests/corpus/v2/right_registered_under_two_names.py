import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.layers = nn.ModuleDict({"qkv": nn.Linear(hidden_dim, 3 * hidden_dim)})
        self.proj = self.layers["qkv"]  # the name of the exercise

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.proj(x).view(b, s, 3, d).movedim(2, 0)
        w = torch.softmax((q @ k.mT) / (d**0.5), dim=-1)
        return w @ v
