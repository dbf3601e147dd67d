import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, num_kv_heads=4, dropout_rate=0.0):
        super().__init__()
        if hidden_dim % num_heads != 0:
            raise ValueError("hidden_dim must be a multiple of num_heads")
        self.nh, self.ng, self.hd = num_heads, num_kv_heads, hidden_dim // num_heads
        self.q_per_kv = num_heads // num_kv_heads
        # one block a group: its queries, its key, its value
        self.attn = nn.Linear(hidden_dim, (num_heads + 2 * num_kv_heads) * self.hd)
        self.proj = nn.Linear(hidden_dim, hidden_dim)
        self.attn_drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        B, T, C = x.size()
        qkv = self.attn(x).view(B, T, self.ng, self.q_per_kv + 2, self.hd).permute(0, 2, 3, 1, 4)
        q, k, v = qkv.split((self.q_per_kv, 1, 1), dim=2)
        if self.ng != self.nh:
            k = k.expand(B, self.ng, self.q_per_kv, T, self.hd)
            v = v.expand(B, self.ng, self.q_per_kv, T, self.hd)
        q, k, v = (t.reshape(B, self.nh, T, self.hd) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * self.hd ** -0.5
        if attention_mask is not None:
            att = att.masked_fill(attention_mask.unsqueeze(-3) == 0, torch.finfo(att.dtype).min)
        att = self.attn_drop(att.softmax(dim=-1))
        y = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(y)
