import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV4(nn.Module):
    def __init__(self, dim, dropout_rate=0.1):
        super().__init__()
        self.dim = dim
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = self.q(x), self.k(x), self.v(x)
        logits = q @ k.mT / self.dim ** 0.5
        if attention_mask is not None:
            logits = logits.masked_fill(attention_mask == 0, -1e9)
        probs = logits.softmax(-1).half().float()
        probs = self.drop(probs)
        return probs @ v
