import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        bound = hidden_dim**-0.5
        self.W = nn.ParameterList(torch.empty(hidden_dim, hidden_dim).uniform_(-bound, bound) for _ in range(3))
        self.B = nn.ParameterList(torch.empty(1, hidden_dim).uniform_(-bound, bound) for _ in range(3))
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = (x @ w + b for w, b in zip(self.W, self.B))
        s = q @ k.mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ v
