import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Heads are folded into the batch, sample by sample."""

    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        assert not hidden_dim % num_heads
        self.h = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(hidden_dim, hidden_dim) for _ in range(4))
        self.dropout = nn.Dropout(p=dropout_rate)

    def fold(self, t):
        b, s, width = t.shape
        t = t.reshape(b, s, self.h, width // self.h).permute(0, 2, 1, 3)
        return t.reshape(b * self.h, s, width // self.h)

    def forward(self, x, attention_mask=None):
        b, s, width = x.shape
        q, k, v = self.fold(self.wq(x)), self.fold(self.wk(x)), self.fold(self.wv(x))
        scores = torch.baddbmm(q.new_zeros(1, 1, 1), q, k.transpose(1, 2), alpha=q.shape[-1] ** -0.5)
        if attention_mask is not None:
            mask = attention_mask.expand(b, s, s).repeat(self.h, 1, 1)
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(torch.softmax(scores, dim=2))
        out = torch.bmm(weights, v).reshape(b, self.h, s, -1)
        return self.wo(out.permute(0, 2, 1, 3).reshape(b, s, width))
