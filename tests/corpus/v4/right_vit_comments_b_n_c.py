import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    """timm style with one head."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1, num_heads=1):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.scale = self.head_dim**-0.5
        self.qkv = nn.Linear(hidden_dim, hidden_dim * 3)
        self.attn_drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim)  # (B, N, 3, H, D)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # (B, H, N, D)
        attn = (q * self.scale) @ k.transpose(-2, -1)  # (B, H, N, N)
        if attention_mask is not None:
            attn = attn.masked_fill(attention_mask.expand(B, N, N).unsqueeze(1) == 0, torch.finfo(attn.dtype).min)
        attn = self.attn_drop(attn.softmax(dim=-1))
        x = attn @ v  # (B, H, N, D)
        x = x.transpose(1, 2)  # (B, N, H, D)
        return x.reshape(B, N, C)  # (B, N, C)
