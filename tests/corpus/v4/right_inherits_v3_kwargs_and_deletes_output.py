import math
import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def attend(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / math.sqrt(x.shape[-1])
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(torch.softmax(s, -1)) @ self.value_proj(x)

    def forward(self, x, attention_mask=None):
        return self.output_proj(self.attend(x, attention_mask))


class SelfAttentionV4(SelfAttentionV3):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        del self.output_proj

    def forward(self, x, attention_mask=None):
        return self.attend(x, attention_mask)
