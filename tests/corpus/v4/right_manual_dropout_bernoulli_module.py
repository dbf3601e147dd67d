import math
import torch
from torch import nn, Tensor


class WeightDropout(nn.Module):
    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, w: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return w
        keep = torch.bernoulli(torch.full_like(w, 1 - self.p))
        return w.mul(keep).div(1 - self.p)


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)
        self.dropout = WeightDropout(dropout_rate)

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        scores = self.q(x) @ self.k(x).mT / math.sqrt(x.size(-1))
        if attention_mask is not None:
            scores = scores.masked_fill(~attention_mask.to(torch.bool), float("-inf"))
        return self.dropout(scores.softmax(-1)) @ self.v(x)
