import torch
from torch import Tensor, nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.attention_head_size = hidden_dim
        self.mixed = nn.Linear(hidden_dim, 3 * hidden_dim)

    def attention_probs(self, query_layer: Tensor, key_layer: Tensor) -> Tensor:
        """How much each query looks at each key: (batch, seq_len, seq_len)."""
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / self.attention_head_size**0.5
        return nn.functional.softmax(attention_scores, dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        hidden_states = x  # (batch, seq_len, hidden_dim)
        mixed = self.mixed(hidden_states)  # (batch, seq_len, 3 * hidden_dim)
        query_layer, key_layer, value_layer = torch.split(mixed, self.attention_head_size, dim=-1)
        attention_probs = self.attention_probs(query_layer, key_layer)
        context_layer = torch.matmul(attention_probs, value_layer)  # (batch, seq_len, hidden_dim)
        return context_layer
