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
        sim = einsum('b i d, b j d -> b i j', q, k) / math.sqrt(q.shape[-1])
        if attention_mask is not None:
            sim = torch.where(attention_mask.bool(), sim, sim.new_tensor(-1e4))
        attn = self.dropout(sim.softmax(dim=-1))
        return self.to_out(einsum('b i j, b j d -> b i d', attn, v))
