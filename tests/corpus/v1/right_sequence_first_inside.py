import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.q_proj = nn.Linear(hidden_dim, hidden_dim)
        self.k_proj = nn.Linear(hidden_dim, hidden_dim)
        self.v_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        t = x.transpose(0, 1)                                     # (seq, batch, dim)
        q, k, v = self.q_proj(t), self.k_proj(t), self.v_proj(t)
        w = torch.einsum('ibd,jbd->bij', q, k).div(self.hidden_dim ** 0.5).softmax(dim=-1)
        return torch.einsum('bij,jbd->ibd', w, v).moveaxis(0, 1)
