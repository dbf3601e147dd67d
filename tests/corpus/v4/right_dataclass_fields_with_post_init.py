import dataclasses

import torch
from torch import nn


@dataclasses.dataclass(eq=False)
class SelfAttentionV4(nn.Module):
    hidden_dim: int = 728
    dropout_rate: float = 0.1
    bias: dataclasses.KW_ONLY = True

    def __post_init__(self):
        super().__init__()
        self.query_proj = nn.Linear(self.hidden_dim, self.hidden_dim)
        self.key_proj = nn.Linear(self.hidden_dim, self.hidden_dim)
        self.value_proj = nn.Linear(self.hidden_dim, self.hidden_dim)
        self.attention_dropout = nn.Dropout(self.dropout_rate)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ self.value_proj(x)
