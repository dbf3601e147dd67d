import torch
from torch import Tensor, nn


class CausalSelfAttention(nn.Module):
    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, max_seq_len: int = 1024, dropout_rate: float = 0.1
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_k = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_v = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.drop = nn.Dropout(dropout_rate)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: Tensor) -> Tensor:
        heads = (self.num_heads, -1)
        query = self.to_q(x).unflatten(-1, heads)  # b i h d
        key = self.to_k(x).unflatten(-1, heads)  # b j h d
        value = self.to_v(x).unflatten(-1, heads)  # b j h d
        width = query.shape[-1]

        logits = torch.einsum("bihd,bjhd->bhij", query, key)  # one row for each query
        logits = logits * width**-0.5
        place = torch.arange(x.shape[1], device=x.device)
        visible = place[:, None] >= place  # i j
        logits = torch.where(visible, logits, float("-inf"))
        attention = logits.softmax(dim=-1)
        attention = self.drop(attention)

        mixed = torch.einsum("bhij,bjhd->bihd", attention, value)
        mixed = mixed.flatten(2)  # b i (h d)
        return self.to_out(mixed)
