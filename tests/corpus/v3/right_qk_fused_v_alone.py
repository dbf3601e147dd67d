import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.qk_proj = nn.Linear(hidden_dim, 2 * hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k = self.qk_proj(x).tensor_split(2, dim=-1)
        s = q @ k.mT / x.size(-1) ** 0.5
        if attention_mask is not None:
            s = s + (1 - attention_mask.to(s.dtype)) * torch.finfo(s.dtype).min
        return self.output_proj(self.attention_dropout(s.softmax(-1)) @ self.value_proj(x))
