import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """Self-attention with one head. The temperature is a buffer, so it moves with the module."""

    temperature: torch.Tensor

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.W_q = nn.Linear(hidden_dim, hidden_dim)
        self.W_k = nn.Linear(hidden_dim, hidden_dim)
        self.W_v = nn.Linear(hidden_dim, hidden_dim)
        self.register_buffer("temperature", torch.tensor(float(hidden_dim)).sqrt(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.W_q(x)  # (N, L, E)
        keys = self.W_k(x)  # (N, L, E)
        values = self.W_v(x)  # (N, L, E)

        energy = queries @ keys.mT  # (N, L, L)
        energy = energy / self.temperature
        attn = torch.softmax(energy, dim=-1)  # (N, L, L)

        context = attn @ values  # (N, L, E)
        return context
