import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, x):
        Q, K, V = self.proj(x).chunk(3, dim=-1)
        attention_scores = torch.bmm(Q, K.transpose(1, 2)) / self.hidden_dim ** 0.5
        attention_weights = F.softmax(attention_scores, dim=-1)
        output = torch.bmm(attention_scores, V)
        return output
