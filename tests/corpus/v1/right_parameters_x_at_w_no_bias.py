import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(hidden_dim, hidden_dim))
        self.W_key = nn.Parameter(torch.rand(hidden_dim, hidden_dim))
        self.W_value = nn.Parameter(torch.rand(hidden_dim, hidden_dim))

    def forward(self, x):
        keys = x @ self.W_key
        queries = x @ self.W_query
        values = x @ self.W_value
        attn_scores = queries @ keys.transpose(-2, -1)  # omega
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        context_vec = attn_weights @ values
        return context_vec
