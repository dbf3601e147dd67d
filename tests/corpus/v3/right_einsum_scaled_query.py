import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.register_buffer("scale", torch.tensor(hidden_dim).rsqrt())

    def forward(self, x, attention_mask=None):
        q = self.query_proj(x) * self.scale
        s = torch.einsum("zac,zec->zae", q, self.key_proj(x))
        if attention_mask is not None:
            s = torch.where(attention_mask.bool(), s, torch.finfo(s.dtype).min)
        w = self.attention_dropout(s.softmax(-1))
        return self.output_proj(torch.einsum("zae,zec->zac", w, self.value_proj(x)))
