import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)

    def forward(self, x):
        Q, K, V = torch.split(self.proj(x), self.dim, dim=-1)
        att_weight = F.softmax(torch.matmul(Q, K.transpose(1, 2)), dim=-1) / math.sqrt(self.dim)
        return att_weight @ V
