import torch
from torch import Tensor, nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.attention_head_size = hidden_dim
        self.query = nn.Linear(hidden_dim, hidden_dim)
        self.key = nn.Linear(hidden_dim, hidden_dim)
        self.value = nn.Linear(hidden_dim, hidden_dim)
        self.dense = nn.Linear(hidden_dim, hidden_dim)
        self.dropout = nn.Dropout(dropout_rate)

    def attention_probs(self, query_layer: Tensor, key_layer: Tensor, mask: Tensor | None) -> Tensor:
        """How much each query looks at each key: (batch, seq_len, seq_len)."""
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / self.attention_head_size**0.5
        if mask is not None:
            extended_mask = (1 - mask.float()) * -1e9
            attention_scores = attention_scores + extended_mask
        return nn.functional.softmax(attention_scores, dim=-1)

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        hidden_states = x  # (batch, seq_len, hidden_dim)
        query_layer = self.query(hidden_states)
        key_layer = self.key(hidden_states)
        value_layer = self.value(hidden_states)
        attention_probs = self.dropout(self.attention_probs(query_layer, key_layer, attention_mask))
        context_layer = torch.matmul(attention_probs, value_layer)  # (batch, seq_len, hidden_dim)
        return self.dense(context_layer)
