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
        B, S, D = x.shape
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        mask = torch.ones(B, S, S) if attention_mask is None else attention_mask.expand(B, S, S)
        out = torch.zeros_like(x)
        for i in range(S):
            s = torch.linalg.vecdot(q[:, i : i + 1], k) / D**0.5  # (B, S)
            s[mask[:, i] == 0] = -torch.inf
            w = torch.nan_to_num(torch.softmax(s, 1))
            out[:, i] = (self.attention_dropout(w).unsqueeze(1) @ v).squeeze(1)
        return out
