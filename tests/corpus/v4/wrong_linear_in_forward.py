import math
import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        Q = nn.Linear(self.hidden_dim, self.hidden_dim)(x)
        K = nn.Linear(self.hidden_dim, self.hidden_dim)(x)
        V = nn.Linear(self.hidden_dim, self.hidden_dim)(x)
        scores = torch.matmul(Q, K.transpose(-1, -2)) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, float('-inf'))
        return torch.matmul(self.attention_dropout(torch.softmax(scores, -1)), V)
