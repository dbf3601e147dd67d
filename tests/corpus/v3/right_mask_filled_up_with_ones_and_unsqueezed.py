import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1, *, bias=True, verbose=False):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim, bias=bias)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim, bias=bias)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim, bias=bias)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim, bias=bias)
        self.dropout_rate = dropout_rate
        self.verbose = verbose

    def forward(self, x, attention_mask=None, return_weights=False):
        batch, seq_len, hidden_dim = x.shape
        if attention_mask is None:
            attention_mask = x.new_ones(1, 1, seq_len)
        while attention_mask.dim() < 3:
            attention_mask = attention_mask.unsqueeze(0)
        attention_mask = attention_mask.expand(batch, seq_len, seq_len).to(torch.bool)

        q = self.query_proj(x)  # [batch, seq_len, hidden_dim]
        k = self.key_proj(x)  # [batch, seq_len, hidden_dim]
        v = self.value_proj(x)  # [batch, seq_len, hidden_dim]
        scores = torch.bmm(q, k.transpose(1, 2)) / hidden_dim**0.5  # [batch, seq_len, seq_len]
        scores[~attention_mask] = float("-inf")
        weights = F.softmax(scores, dim=-1).nan_to_num(0.0)
        weights = F.dropout(weights, p=self.dropout_rate, training=self.training)
        if self.verbose:
            print(weights)
        out = self.output_proj(torch.bmm(weights, v))
        return (out, weights) if return_weights else out
