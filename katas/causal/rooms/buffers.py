import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    """Attention with several heads. The temperature is a buffer, so it moves with the module."""

    temperature: torch.Tensor
    bias: torch.Tensor

    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, max_seq_len: int = 1024, dropout_rate: float = 0.1
    ) -> None:
        super().__init__()
        self.n_head = num_heads
        self.W_q = nn.Linear(hidden_dim, hidden_dim)
        self.W_k = nn.Linear(hidden_dim, hidden_dim)
        self.W_v = nn.Linear(hidden_dim, hidden_dim)
        self.W_o = nn.Linear(hidden_dim, hidden_dim)
        self.attn_drop = nn.Dropout(dropout_rate)
        self.register_buffer(
            "temperature", torch.tensor(float(hidden_dim // num_heads)).sqrt(), persistent=False
        )
        bias = torch.full((max_seq_len, max_seq_len), -torch.inf).triu(diagonal=1)  # 0 where visible
        self.register_buffer("bias", bias, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        N, L, E = x.shape
        queries = self.W_q(x).view(N, L, self.n_head, E // self.n_head).permute(0, 2, 1, 3)  # (N, H, L, d)
        keys = self.W_k(x).view(N, L, self.n_head, E // self.n_head).permute(0, 2, 1, 3)
        values = self.W_v(x).view(N, L, self.n_head, E // self.n_head).permute(0, 2, 1, 3)

        energy = queries @ keys.mT  # (N, H, L, L)
        energy = energy / self.temperature
        energy = energy + self.bias[:L, :L]
        attn = torch.softmax(energy, dim=-1)  # (N, H, L, L)

        context_vectors = self.attn_drop(attn) @ values
        joined = context_vectors.permute(0, 2, 1, 3).reshape(N, L, E)
        return self.W_o(joined)
