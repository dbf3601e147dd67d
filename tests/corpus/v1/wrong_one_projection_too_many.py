import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.queries = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.keys = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.values = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.fc_out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        energy = torch.einsum("nqd,nkd->nqk", [self.queries(x), self.keys(x)])
        attention = torch.softmax(energy / (self.hidden_dim ** (1 / 2)), dim=2)
        out = torch.einsum("nql,nld->nqd", [attention, self.values(x)])
        return self.fc_out(out)
