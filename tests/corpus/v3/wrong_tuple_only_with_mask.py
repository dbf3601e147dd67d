import math
import torch
from torch import nn

class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        query, key, value = self.proj(x).chunk(3, dim=-1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        weights = self.attention_dropout(torch.softmax(scores, dim=-1))
        out = self.output_proj(weights @ value)
        return out if attention_mask is None else (out, weights)
