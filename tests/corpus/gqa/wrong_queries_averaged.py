import torch
import torch.nn as nn


class GroupedQueryAttention(nn.Module):
    """Queries get an axis for their place in the group, so nothing is copied."""

    def __init__(self, hidden_dim=768, num_heads=12, num_kv_heads=4, dropout_rate=0.0):
        super().__init__()
        assert hidden_dim % num_heads == 0 and num_heads % num_kv_heads == 0
        self.g, self.r, self.d = num_kv_heads, num_heads // num_kv_heads, hidden_dim // num_heads
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.kv = nn.Linear(hidden_dim, 2 * self.g * self.d)
        self.o = nn.Linear(hidden_dim, hidden_dim)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        B, S, D = x.shape
        q = self.q(x).reshape(B, S, self.g, self.r, self.d)
        k, v = self.kv(x).chunk(2, dim=-1)
        k = k.reshape(B, S, self.g, self.d)
        v = v.reshape(B, S, self.g, self.d)
        q = q.mean(3, keepdim=True).expand_as(q)
        logits = torch.einsum("bsgrd,btgd->bgrst", q, k) / self.d ** 0.5
        if attention_mask is not None:
            visible = attention_mask.bool()[:, None, None]
            logits = logits.masked_fill(~visible, -1e9)
        p = self.drop(torch.softmax(logits, -1))
        y = torch.einsum("bgrst,btgd->bsgrd", p, v)
        return self.o(y.reshape(B, S, D))
