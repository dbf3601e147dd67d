import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        B, S, D = x.shape
        q, k, v = self.proj(x.reshape(B * S, D)).hsplit(3)
        visible = torch.ones(B, S, S, dtype=torch.bool, device=x.device)
        if attention_mask is not None:
            visible = visible & (attention_mask != 0)
        visible = torch.block_diag(*visible)
        s = (q @ k.T / D**0.5).where(visible, torch.finfo(x.dtype).min)
        return (self.attention_dropout(s.softmax(-1)) @ v).view_as(x)
