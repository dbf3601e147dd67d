import math
import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(hidden_dim, hidden_dim) for _ in range(4))
        self.dropout = nn.Dropout(p=dropout_rate)

    def forward(self, x, mask=None):
        s = self.q(x) @ self.k(x).mT / math.sqrt(x.size(-1))
        if mask is not None:
            # a ceiling: +inf where visible, -inf where hidden
            ceiling = torch.where(mask != 0, math.inf, -math.inf).to(s.dtype)
            s = torch.minimum(s, ceiling)
        return self.o(self.dropout(torch.softmax(s, -1)) @ self.v(x))
