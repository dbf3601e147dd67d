import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """Attention with several heads. The temperature is a buffer, so it moves with the module."""

    temperature: torch.Tensor

    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, num_kv_heads: int = 4, dropout_rate: float = 0.0
    ) -> None:
        super().__init__()
        self.n_head = num_heads
        self.n_kv = num_kv_heads
        self.d_head = hidden_dim // num_heads
        self.W_q = nn.Linear(hidden_dim, hidden_dim)
        self.W_k = nn.Linear(hidden_dim, num_kv_heads * self.d_head)
        self.W_v = nn.Linear(hidden_dim, num_kv_heads * self.d_head)
        self.W_o = nn.Linear(hidden_dim, hidden_dim)
        self.attn_drop = nn.Dropout(dropout_rate)
        self.register_buffer(
            "temperature", torch.tensor(float(hidden_dim // num_heads)).sqrt(), persistent=False
        )

    def forward(self, x: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        N, L, E = x.shape
        queries = self.W_q(x).view(N, L, self.n_head, E // self.n_head).permute(0, 2, 1, 3)  # (N, H, L, d)
        keys = self.W_k(x).view(N, L, self.n_kv, self.d_head).permute(0, 2, 1, 3)
        values = self.W_v(x).view(N, L, self.n_kv, self.d_head).permute(0, 2, 1, 3)
        which = torch.arange(self.n_head, device=x.device) // (self.n_head // self.n_kv)
        keys, values = keys[:, which], values[:, which]  # (N, H, L, d)

        energy = queries @ keys.mT  # (N, H, L, L)
        energy = energy / self.temperature
        if attention_mask is not None:
            penalty = (1.0 - attention_mask.to(energy.dtype)) * -1e9  # 0 where visible
            energy = energy + penalty.unsqueeze(-3)
        attn = torch.softmax(energy, dim=-1)  # (N, H, L, L)

        context_vectors = self.attn_drop(attn) @ values
        joined = context_vectors.permute(0, 2, 1, 3).reshape(N, L, E)
        return self.W_o(joined)
