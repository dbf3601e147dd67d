import torch
from torch import Tensor, nn


class CrossAttention(nn.Module):
    def __init__(
        self,
        hidden_dim: int = 768,
        num_heads: int = 12,
        context_dim: int | None = None,
        dropout_rate: float = 0.1,
    ) -> None:
        super().__init__()
        context_dim = hidden_dim if context_dim is None else context_dim
        self.num_heads = num_heads
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_k = nn.Linear(context_dim, hidden_dim, bias=False)
        self.to_v = nn.Linear(context_dim, hidden_dim, bias=False)
        self.drop = nn.Dropout(dropout_rate)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: Tensor, context: Tensor, context_mask: Tensor | None = None) -> Tensor:
        heads = (self.num_heads, -1)
        query = self.to_q(x).unflatten(-1, heads)  # b i h d
        key = self.to_k(context).unflatten(-1, heads)  # b j h d
        value = self.to_v(context).unflatten(-1, heads)  # b j h d
        width = query.shape[-1]

        logits = torch.einsum("bihd,bjhd->bhij", query, key)  # one row for each query
        logits = logits * width**-0.5
        if context_mask is not None:
            visible = context_mask[:, None, None, :] != 0
            logits = torch.where(visible, logits, torch.finfo(logits.dtype).min)
        attention = logits.softmax(dim=-1)
        attention = self.drop(attention)

        mixed = torch.einsum("bhij,bjhd->bihd", attention, value)
        mixed = mixed.flatten(2)  # b i (h d)
        return self.to_out(mixed)
