import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.dropout_rate = dropout_rate

    def one(self, x, visible):
        s = self.query_proj(x) @ self.key_proj(x).T / x.shape[-1] ** 0.5
        s = torch.where(visible, s, torch.finfo(s.dtype).min)
        w = F.dropout(s.softmax(-1), self.dropout_rate, self.training)
        return self.output_proj(w @ self.value_proj(x))

    def forward(self, x, attention_mask=None):
        b, s, _ = x.shape
        ones = torch.ones(b, s, s, dtype=torch.bool, device=x.device)
        visible = ones if attention_mask is None else ones & (attention_mask != 0)
        return torch.vmap(self.one, randomness="different")(x, visible)
