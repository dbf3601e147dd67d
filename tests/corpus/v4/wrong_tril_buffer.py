import math
import torch
import torch.nn as nn
from torch.nn import functional as F


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1, block_size=64):
        super().__init__()
        self.key = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.query = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.value = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.register_buffer('tril', torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        k = self.key(x)
        q = self.query(x)
        wei = q @ k.transpose(-2, -1) * C ** -0.5
        if attention_mask is None:
            attention_mask = self.tril[:T, :T]
        wei = wei.masked_fill(attention_mask == 0, float('-inf'))
        wei = F.softmax(wei, dim=-1)
        wei = self.dropout(wei)
        return wei @ self.value(x)
