import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV4(nn.Module):
    """Auto-attention masquée : softmax(QKᵀ/√d + masque)·V."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.poids = nn.Parameter(torch.empty(3 * hidden_dim, hidden_dim))
        nn.init.normal_(self.poids, std=0.02)
        self.taux = dropout_rate

    def forward(self, x, attention_mask=None):
        q, k, v = F.linear(x, self.poids).tensor_split(3, dim=-1)
        scores = q.matmul(k.transpose(-2, -1)).div(math.sqrt(x.size(-1)))
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask.eq(0), -math.inf)
        return F.dropout(scores.softmax(dim=-1), self.taux, self.training).matmul(v)
