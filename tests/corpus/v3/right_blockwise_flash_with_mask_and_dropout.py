import torch
from torch import nn

BLOCK = 3


class SelfAttentionV3(nn.Module):
    """Keys in blocks with a running maximum and a running sum; dropout on each block's numerators."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        B, S, D = x.shape
        q, k, v = self.query_proj(x) / D**0.5, self.key_proj(x), self.value_proj(x)
        lowest = torch.finfo(x.dtype).min
        visible = None if attention_mask is None else attention_mask.bool().expand(B, S, S)
        top = x.new_full((B, S, 1), lowest)
        total = x.new_zeros(B, S, 1)
        acc = torch.zeros_like(x)
        for a in range(0, S, BLOCK):
            z = min(a + BLOCK, S)
            s = q @ k[:, a:z].mT
            if visible is not None:
                s = s.masked_fill(~visible[:, :, a:z], lowest)
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            shrink = torch.exp(top - new)
            e = torch.exp(s - new)
            total = total * shrink + e.sum(-1, keepdim=True)
            acc = acc * shrink + self.attention_dropout(e) @ v[:, a:z]
            top = new
        return self.output_proj(acc / total)
