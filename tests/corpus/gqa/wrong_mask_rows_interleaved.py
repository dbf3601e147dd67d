import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, num_kv_heads=4, dropout_rate=0.0):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.H, self.G = num_heads, num_kv_heads
        self.R, self.d = num_heads // num_kv_heads, hidden_dim // num_heads
        self.to_q = nn.Linear(hidden_dim, hidden_dim)
        self.to_k = nn.Linear(hidden_dim, self.G * self.d)
        self.to_v = nn.Linear(hidden_dim, self.G * self.d)
        self.to_out = nn.Linear(hidden_dim, hidden_dim)
        self.p = dropout_rate

    def forward(self, x, attention_mask=None):
        B, S, D = x.shape
        G, R, d = self.G, self.R, self.d
        # the queries of a group become rows of one product: (B, G, R*S, d)
        q = self.to_q(x).view(B, S, G, R, d).permute(0, 2, 3, 1, 4).reshape(B, G, R * S, d)
        k = self.to_k(x).view(B, S, G, d).transpose(1, 2)
        v = self.to_v(x).view(B, S, G, d).transpose(1, 2)
        s = q @ k.transpose(-1, -2) * d ** -0.5
        if attention_mask is not None:
            m = attention_mask.expand(B, S, S).repeat_interleave(R, dim=1)[:, None]
            s = s.masked_fill(m == 0, float("-inf"))
        w = torch.dropout(s.softmax(-1), self.p, self.training)
        y = (w @ v).view(B, G, R, S, d).permute(0, 3, 1, 2, 4).reshape(B, S, D)
        return self.to_out(y)
