import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        shape = (hidden_dim, hidden_dim)
        self.theta = nn.Parameter(torch.randn(shape) * 0.02)  # output
        self.phi = nn.Parameter(torch.randn(shape) * 0.02)  # value
        self.chi = nn.Parameter(torch.randn(shape) * 0.02)  # key
        self.psi = nn.Parameter(torch.randn(shape) * 0.02)  # query
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        q, k, v = (F.linear(x, w) for w in (self.psi, self.chi, self.phi))
        s = q @ k.transpose(-1, -2) * x.shape[-1] ** -0.5
        if attention_mask is not None:
            s = s.masked_fill(~attention_mask.to(torch.bool), -torch.inf)
        return F.linear(self.drop(s.softmax(-1)) @ v, self.theta)
