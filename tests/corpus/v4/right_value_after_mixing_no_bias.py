import torch, math
from torch import nn, einsum


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_k = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_v = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.dropout = nn.Dropout(dropout_rate)
    def forward(self, x, attention_mask=None):
        q, k = self.to_q(x), self.to_k(x)
        sim = einsum('bid,bjd->bij', q, k) * q.shape[-1] ** -0.5
        if attention_mask is not None:
            sim = sim.masked_fill(attention_mask == 0, -1e9)
        return self.to_v(einsum('bij,bjd->bid', self.dropout(sim.softmax(dim=-1)), x))
