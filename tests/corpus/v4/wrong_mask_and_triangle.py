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
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        sim = einsum('bid,bjd->bij', q, k) * q.shape[-1] ** -0.5
        if attention_mask is not None:
            sim = sim.masked_fill(attention_mask == 0, -1e9)
        future = torch.ones(sim.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
        sim = sim.masked_fill(future, -1e9)
        return einsum('bij,bjd->bid', self.dropout(sim.softmax(dim=-1)), v)
