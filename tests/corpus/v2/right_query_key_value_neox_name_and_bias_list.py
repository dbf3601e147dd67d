import torch
from torch import nn


class SelfAttentionV2(nn.Module):
    """GPT-NeoX: (heads, 3 * head_size) with one head."""

    def __init__(self, hidden_size=728, num_attention_heads=1):
        super().__init__()
        self.heads, self.head_size = num_attention_heads, hidden_size // num_attention_heads
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.norm_factor = self.head_size**-0.5

    def forward(self, hidden_states):
        qkv = self.query_key_value(hidden_states)
        qkv = qkv.view(*qkv.size()[:-1], self.heads, 3 * self.head_size)
        query = qkv[..., : self.head_size].permute(0, 2, 1, 3)
        key = qkv[..., self.head_size : 2 * self.head_size].permute(0, 2, 1, 3)
        value = qkv[..., 2 * self.head_size :].permute(0, 2, 1, 3)
        scores = torch.matmul(query, key.transpose(-1, -2)).mul(self.norm_factor)
        out = torch.matmul(torch.softmax(scores, -1), value)
        return out.permute(0, 2, 1, 3).flatten(-2)
