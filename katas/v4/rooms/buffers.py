import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    """Self-attention with one head. The temperature is a buffer, so it moves with the module."""

    temperature: torch.Tensor

    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.W_q = nn.Linear(hidden_dim, hidden_dim)
        self.W_k = nn.Linear(hidden_dim, hidden_dim)
        self.W_v = nn.Linear(hidden_dim, hidden_dim)
        self.attn_drop = nn.Dropout(dropout_rate)
        self.register_buffer("temperature", torch.tensor(float(hidden_dim)).sqrt(), persistent=False)

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        queries = self.W_q(x)  # (N, L, E)
        keys = self.W_k(x)  # (N, L, E)
        values = self.W_v(x)  # (N, L, E)

        energy = queries @ keys.mT  # (N, L, L)
        energy = energy / self.temperature
        if attention_mask is not None:
            bias = (1.0 - attention_mask.to(energy.dtype)) * -1e9  # 0 where visible
            energy = energy + bias
        attn = torch.softmax(energy, dim=-1)  # (N, L, L)

        context = self.attn_drop(attn) @ values  # (N, L, E)
        return context
