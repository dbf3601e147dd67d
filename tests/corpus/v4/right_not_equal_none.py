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
    def forward(self, x, attention_mask=None, **kwargs):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scale = torch.sqrt(torch.tensor(k.shape[-1], dtype=x.dtype, device=x.device))
        scores = torch.div(torch.matmul(q, k.transpose(-2, -1)), scale)
        if attention_mask != None:
            scores[(attention_mask == 0).expand_as(scores)] = -1e20
        return torch.matmul(self.attention_dropout(torch.softmax(scores, dim=-1)), v)
