import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """One product of [q; k] with itself, of which the block q kᵀ is cut out."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        s = x.shape[1]
        both = torch.cat((self.query_proj(x), self.key_proj(x)), dim=1)  # (batch, 2 * seq_len, hidden_dim)
        gram = both @ both.transpose(1, 2)  # (batch, 2 * seq_len, 2 * seq_len)
        scores = gram[:, :s, s:] / x.shape[2] ** 0.5  # (batch, seq_len, seq_len)
        return scores.softmax(2) @ self.value_proj(x)
