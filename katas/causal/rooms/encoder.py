import torch
from torch import Tensor, nn


class CausalSelfAttention(nn.Module):
    def __init__(
        self, hidden_dim: int = 768, num_heads: int = 12, max_seq_len: int = 1024, dropout_rate: float = 0.1
    ) -> None:
        super().__init__()
        self.num_attention_heads = num_heads
        self.attention_head_size = hidden_dim // num_heads
        self.all_head_size = num_heads * self.attention_head_size
        self.query = nn.Linear(hidden_dim, self.all_head_size)
        self.key = nn.Linear(hidden_dim, self.all_head_size)
        self.value = nn.Linear(hidden_dim, self.all_head_size)
        self.dropout = nn.Dropout(dropout_rate)
        self.dense = nn.Linear(self.all_head_size, hidden_dim)

    def transpose_for_scores(self, layer: Tensor) -> Tensor:
        """(batch, length, all_head_size) to (batch, heads, length, head_size)."""
        layer = layer.view(layer.size(0), layer.size(1), -1, self.attention_head_size)
        return layer.permute(0, 2, 1, 3)

    def forward(self, x: Tensor) -> Tensor:
        hidden_states = x  # (batch, length, hidden_dim)
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))

        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / self.attention_head_size**0.5
        length = hidden_states.size(1)
        position_ids = torch.arange(length, device=x.device)
        extended_mask = position_ids[None, :] <= position_ids[:, None]  # True where visible
        attention_scores = attention_scores.masked_fill(~extended_mask, float("-inf"))
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        attention_probs = self.dropout(attention_probs)

        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).flatten(2)  # (batch, length, all_head_size)
        return self.dense(context_layer)
