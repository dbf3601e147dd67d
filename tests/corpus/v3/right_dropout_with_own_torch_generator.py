import torch
from torch import nn


class SeededDropout(nn.Module):
    """Inverted dropout that draws from a generator of its own, for reproducible runs."""

    def __init__(self, p, seed=0):
        super().__init__()
        self.p, self.generator = p, torch.Generator().manual_seed(seed)

    def forward(self, t):
        if not self.training:
            return t
        keep = torch.bernoulli(torch.full(t.shape, 1 - self.p), generator=self.generator)
        return t * keep.to(t) / (1 - self.p)


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.attention_dropout = SeededDropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        q, k, v = self.qkv(x).chunk(3, -1)
        s = q @ k.mT / x.size(-1) ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.output_proj(self.attention_dropout(s.softmax(-1)) @ v)
