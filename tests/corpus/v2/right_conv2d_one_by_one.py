import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    """Non-local block on a 1 x S image."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Conv2d(hidden_dim, 3 * hidden_dim, kernel_size=1)

    def forward(self, x):
        image = x.mT.unsqueeze(2)  # (B, D, 1, S)
        theta, phi, g = self.proj(image).squeeze(2).split(x.shape[-1], dim=1)  # (B, D, S) each
        f = torch.softmax(theta.mT @ phi * x.shape[-1] ** -0.5, -1)
        return (g @ f.mT).mT
