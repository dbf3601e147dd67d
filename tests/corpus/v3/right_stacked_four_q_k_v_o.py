import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV3(nn.Module):
    """All four matrices in one parameter (4, D, D): q, k, v, o."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.p = dropout_rate
        self.W = nn.Parameter(torch.randn(4, hidden_dim, hidden_dim) * hidden_dim**-0.5)

    def forward(self, x, attention_mask=None):
        wq, wk, wv, wo = self.W
        q, k, v = x @ wq, x @ wk, x @ wv
        s = q @ k.mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask.eq(0), torch.finfo(s.dtype).min)
        a = F.dropout(F.softmax(s, dim=-1), self.p, self.training)
        return a @ v @ wo
