import math
import torch
import torch.nn as nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
    def forward(self, X, attention_mask=None):
        batch, seq_len, _ = X.shape
        q, k, v = self.query_proj(X), self.key_proj(X), self.value_proj(X)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            m = attention_mask
            if m.dim() == 2 and m.shape[0] == batch and m.shape[0] != seq_len:
                m = m[:, None, :]
            scores = scores.masked_fill(m == 0, float("-inf"))
        return self.output_proj(self.attention_dropout(scores.softmax(-1)) @ v)
