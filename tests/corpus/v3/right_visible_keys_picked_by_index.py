import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    """Never computes a hidden score: for each query only the visible keys are gathered."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.scale = hidden_dim**-0.5

    def forward(self, x, attention_mask=None):
        B, S, D = x.shape
        visible = torch.ones(B, S, S, dtype=torch.bool, device=x.device)
        if attention_mask is not None:
            visible &= attention_mask.bool()
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        rows = []
        for b in range(B):
            for i in range(S):
                j = visible[b, i].nonzero().squeeze(1)
                w = torch.softmax(k[b, j] @ q[b, i] * self.scale, dim=0)
                rows.append(self.attention_dropout(w) @ v[b, j])
        return self.output_proj(torch.stack(rows).view(B, S, D))
