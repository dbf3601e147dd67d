import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    """Self-attention with one head. The temperature is a buffer, so it moves with the module."""

    temperature: torch.Tensor

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.W = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.register_buffer("temperature", torch.tensor(float(hidden_dim)).sqrt(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        packed = self.W(x).view(x.size(0), x.size(1), 3, -1)  # (N, L, 3, E)
        queries, keys, values = packed[:, :, 0], packed[:, :, 1], packed[:, :, 2]  # (N, L, E)

        energy = queries @ keys.mT  # (N, L, L)
        energy = energy / self.temperature
        attn = torch.softmax(energy, dim=-1)  # (N, L, L)

        context = attn @ values  # (N, L, E)
        return context
