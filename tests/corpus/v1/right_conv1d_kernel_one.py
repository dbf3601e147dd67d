import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_conv = nn.Conv1d(hidden_dim, hidden_dim, kernel_size=1)
        self.key_conv = nn.Conv1d(hidden_dim, hidden_dim, kernel_size=1)
        self.value_conv = nn.Conv1d(hidden_dim, hidden_dim, kernel_size=1)

    def forward(self, x):
        c = x.transpose(1, 2)                                  # B, C, T
        f = self.query_conv(c)
        g = self.key_conv(c)
        h = self.value_conv(c)
        beta = torch.softmax(torch.bmm(f.transpose(1, 2), g) / math.sqrt(self.hidden_dim), dim=-1)
        return torch.bmm(h, beta.transpose(1, 2)).transpose(1, 2)
