import torch
import torch.nn as nn

MAX_TOKENS = 1024


class CachedSelfAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = hidden_dim // num_heads
        self.qkv_proj = nn.Linear(hidden_dim, hidden_dim * 3)
        self.o_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, cache=None):
        batch, new, width = x.shape
        qkv = self.qkv_proj(x).view(batch, new, 3, self.num_heads, self.head_dim)
        query, key, value = (part.transpose(1, 2) for part in qkv.unbind(dim=2))
        if cache is None:
            shape = (batch, self.num_heads, MAX_TOKENS, self.head_dim)
            cache = {"key": x.new_zeros(shape), "value": x.new_zeros(shape), "length": 0}
        begin = cache["length"]
        end = begin + new
        keys = torch.cat((cache["key"][:, :, :begin], key, cache["key"][:, :, end:]), dim=2)
        values = torch.cat((cache["value"][:, :, :begin], value, cache["value"][:, :, end:]), dim=2)
        scores = query @ keys.mT * self.head_dim**-0.5
        row = torch.arange(begin, end, device=x.device).view(-1, 1)
        column = torch.arange(MAX_TOKENS, device=x.device).view(1, -1)
        scores = scores + torch.where(column <= row, 0.0, float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ values
        output = self.o_proj(mixed.transpose(1, 2).reshape(batch, new, width))
        return output, {"key": keys, "value": values, "length": end}
