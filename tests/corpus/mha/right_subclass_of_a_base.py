import torch
from torch import nn


class Attention(nn.Module):
    def attend(self, q, k, v, hidden):
        scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return self.drop(torch.softmax(scores, dim=-1)) @ v


class MultiHeadAttention(Attention):
    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        if hidden_dim % num_heads:
            raise ValueError(num_heads)
        self.num_heads = num_heads
        self.layers = nn.ModuleDict({n: nn.Linear(hidden_dim, hidden_dim) for n in ("k", "v", "q", "o")})
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        cut = lambda n: torch.stack(self.layers[n](x).chunk(self.num_heads, dim=-1), dim=1)
        hidden = None if attention_mask is None else (attention_mask == 0).unsqueeze(-3)
        heads = self.attend(cut("q"), cut("k"), cut("v"), hidden)
        return self.layers["o"](torch.cat(heads.unbind(1), dim=-1))
