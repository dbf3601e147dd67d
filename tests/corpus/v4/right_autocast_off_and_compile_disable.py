import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        with torch.autocast(device_type=x.device.type, enabled=False):
            q, k, v = self.query_proj(x).float(), self.key_proj(x).float(), self.value_proj(x)
            s = torch.baddbmm(q.new_zeros(()), q, k.mT, beta=0.0, alpha=x.shape[-1] ** -0.5)
            if attention_mask is not None:
                s = s - (1.0 - attention_mask.to(s.dtype)) * 1e9
            w = torch.softmax(s, -1).to(v.dtype)
        return self.attention_dropout(w) @ v
