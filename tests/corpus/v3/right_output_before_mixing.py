import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        vo = F.linear(self.value_proj(x), self.output_proj.weight)
        s = self.query_proj(x) @ self.key_proj(x).mT / math.sqrt(x.shape[-1])
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        return self.attention_dropout(s.softmax(-1)) @ vo + self.output_proj.bias
