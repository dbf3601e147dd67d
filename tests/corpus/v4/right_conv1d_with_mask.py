import math
import torch
import torch.nn as nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.q_conv = nn.Conv1d(hidden_dim, hidden_dim, 1, bias=False)
        self.k_conv = nn.Conv1d(hidden_dim, hidden_dim, 1, bias=False)
        self.v_conv = nn.Conv1d(hidden_dim, hidden_dim, 1)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        c = x.permute(0, 2, 1)
        q, k, v = self.q_conv(c), self.k_conv(c), self.v_conv(c)
        energy = q.permute(0, 2, 1) @ k / math.sqrt(c.size(1))
        if attention_mask is not None:
            energy = energy.masked_fill(attention_mask == 0, float('-inf'))
        attn = self.drop(energy.softmax(dim=-1))
        return (v @ attn.permute(0, 2, 1)).permute(0, 2, 1)
