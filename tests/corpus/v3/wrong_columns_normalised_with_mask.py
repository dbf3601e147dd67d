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
    def forward(self, x, attention_mask=None):
        q = self.query_proj(x)
        k = self.key_proj(x)
        v = self.value_proj(x)
        att = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            att = att.masked_fill(attention_mask == 0, float("-1e20"))
        att = torch.softmax(att, dim=-2)
        att = self.attention_dropout(att)
        return self.output_proj(torch.matmul(att, v))
