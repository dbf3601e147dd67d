import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.qv_proj = nn.Linear(hidden_dim, 2 * hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim, bias=False)  # its bias would cancel
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, v = self.qv_proj(x).chunk(2, dim=-1)
        s = q @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ v
