import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, num_kv_heads=4, dropout_rate=0.0):
        super().__init__()
        assert hidden_dim % num_heads == 0
        d = hidden_dim // num_heads
        r = num_heads // num_kv_heads
        self.W_q = nn.Parameter(torch.randn(num_kv_heads, r, hidden_dim, d) * hidden_dim ** -0.5)
        self.W_k = nn.Parameter(torch.randn(num_kv_heads, hidden_dim, d) * hidden_dim ** -0.5)
        self.W_v = nn.Parameter(torch.randn(num_kv_heads, hidden_dim, d) * hidden_dim ** -0.5)
        self.W_o = nn.Parameter(torch.randn(num_heads * d, hidden_dim) * hidden_dim ** -0.5)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q = torch.einsum("bsm,grmd->bgrsd", x, self.W_q)
        k = torch.einsum("btm,gmd->bgtd", x, self.W_k)
        v = torch.einsum("btm,gmd->bgtd", x, self.W_v)
        z = torch.einsum("bgrsd,bgtd->bgrst", q, k)
        if attention_mask is not None:
            z = z + torch.zeros_like(z).masked_fill(attention_mask[:, None, None] == 0, float("-inf"))
        a = self.drop(z.softmax(-1))
        y = torch.einsum("bgrst,bgtd->bsgrd", a, v).flatten(2)
        return y @ self.W_o
