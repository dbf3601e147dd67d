import numpy as np
import torch
import torch.nn as nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, X):
        QKV = self.proj(X)
        Q, K, V = QKV[..., :self.hidden_dim], QKV[..., self.hidden_dim:2 * self.hidden_dim], QKV[..., 2 * self.hidden_dim:]
        attention_weight = torch.softmax(Q @ K.transpose(-1, -2) * float(np.sqrt(self.hidden_dim)), dim=-1)
        return attention_weight @ V
