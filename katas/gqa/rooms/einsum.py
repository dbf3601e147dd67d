import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, num_kv_heads: int = 4, dropout_rate: float = 0.0
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.num_groups = num_kv_heads
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_k = nn.Linear(hidden_dim, hidden_dim // num_heads * num_kv_heads, bias=False)
        self.to_v = nn.Linear(hidden_dim, hidden_dim // num_heads * num_kv_heads, bias=False)
        self.drop = nn.Dropout(dropout_rate)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        heads = (self.num_heads, -1)
        groups = (self.num_groups, -1)
        query = self.to_q(x).unflatten(-1, heads)  # b i h d
        key = self.to_k(x).unflatten(-1, groups)  # b j h d
        value = self.to_v(x).unflatten(-1, groups)  # b j h d
        width = query.shape[-1]
        query = query.unflatten(2, (self.num_groups, -1))  # b i g r d

        logits = torch.einsum("bigrd,bjgd->bgrij", query, key)  # one row for each query
        logits = logits * width**-0.5
        if attention_mask is not None:
            visible = attention_mask[..., None, None, :, :] != 0
            logits = torch.where(visible, logits, torch.finfo(logits.dtype).min)
        attention = logits.softmax(dim=-1)
        attention = self.drop(attention)

        mixed = torch.einsum("bgrij,bjgd->bigrd", attention, value)
        mixed = mixed.flatten(2)  # b i (h d)
        return self.to_out(mixed)
