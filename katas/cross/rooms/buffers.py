import torch
from torch import nn


class CrossAttention(nn.Module):
    """Attention with several heads. The temperature is a buffer, so it moves with the module."""

    temperature: torch.Tensor

    def __init__(
        self,
        hidden_dim: int = 768,
        num_heads: int = 12,
        context_dim: int | None = None,
        dropout_rate: float = 0.1,
    ) -> None:
        super().__init__()
        context_dim = hidden_dim if context_dim is None else context_dim
        self.n_head = num_heads
        self.W_q = nn.Linear(hidden_dim, hidden_dim)
        self.W_k = nn.Linear(context_dim, hidden_dim)
        self.W_v = nn.Linear(context_dim, hidden_dim)
        self.W_o = nn.Linear(hidden_dim, hidden_dim)
        self.attn_drop = nn.Dropout(dropout_rate)
        self.register_buffer(
            "temperature", torch.tensor(float(hidden_dim // num_heads)).sqrt(), persistent=False
        )

    def forward(
        self, x: torch.Tensor, context: torch.Tensor, context_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        N, L, E = x.shape
        M = context.size(1)
        queries = self.W_q(x).view(N, L, self.n_head, E // self.n_head).permute(0, 2, 1, 3)  # (N, H, L, d)
        keys = self.W_k(context).view(N, M, self.n_head, E // self.n_head).permute(0, 2, 1, 3)
        values = self.W_v(context).view(N, M, self.n_head, E // self.n_head).permute(0, 2, 1, 3)

        energy = queries @ keys.mT  # (N, H, L, M)
        energy = energy / self.temperature
        if context_mask is not None:
            penalty = (1.0 - context_mask.to(energy.dtype)) * -1e9  # 0 where visible
            energy = energy + penalty.view(N, 1, 1, M)
        attn = torch.softmax(energy, dim=-1)  # (N, H, L, M)

        context_vectors = self.attn_drop(attn) @ values
        joined = context_vectors.permute(0, 2, 1, 3).reshape(N, L, E)
        return self.W_o(joined)
