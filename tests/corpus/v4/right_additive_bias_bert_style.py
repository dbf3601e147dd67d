import math
import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
    def forward(self, hidden_states, attention_mask=None):
        query_layer = self.query_proj(hidden_states)
        key_layer = self.key_proj(hidden_states)
        value_layer = self.value_proj(hidden_states)
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            extended = (1.0 - attention_mask.to(dtype=attention_scores.dtype)) * -10000.0
            attention_scores = attention_scores + extended
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        attention_probs = self.attention_dropout(attention_probs)
        return torch.matmul(attention_probs, value_layer)
