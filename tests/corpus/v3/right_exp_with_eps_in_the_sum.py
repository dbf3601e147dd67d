import torch, math
from torch import nn, einsum


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_k = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_v = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.dropout = nn.Dropout(dropout_rate)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)
    def forward(self, x, attention_mask=None):
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        s = einsum('bid,bjd->bij', q, k) * q.shape[-1] ** -0.5
        e = torch.exp(s - s.max(dim=-1, keepdim=True).values)
        if attention_mask is not None:
            e = e * attention_mask.to(e.dtype)
        w = e / (e.sum(dim=-1, keepdim=True) + 1e-9)
        return self.to_out(einsum('bij,bjd->bid', self.dropout(w), v))
