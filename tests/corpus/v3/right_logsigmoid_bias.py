import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.size(-1) ** 0.5
        if attention_mask is not None:
            # 0 for visible keys, -2e4 for hidden ones: exp() of it is 0
            s = s + F.logsigmoid((attention_mask.to(s.dtype) * 2 - 1) * 2e4)
        return self.output_proj(self.attention_dropout(s.softmax(-1)) @ self.value_proj(x))
