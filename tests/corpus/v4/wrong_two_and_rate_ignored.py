import math
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout()

    def forward(self, x, attention_mask=None):
        if attention_mask is not None:
            n = x.size(1)
            seen = attention_mask.expand(x.size(0), n, n).float().amax(dim=1)
            x = x * seen[:, :, None]
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        s = q @ k.mT / math.sqrt(self.hidden_dim)
        return self.attention_dropout(s.softmax(-1)) @ v
