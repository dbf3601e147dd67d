import torch
from torch import nn
from math import sqrt


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.scaling = hidden_dim ** -0.5
        self.hidden_dim = hidden_dim
        self.q_proj = nn.Linear(hidden_dim, hidden_dim)
        self.k_proj = nn.Linear(hidden_dim, hidden_dim)
        self.v_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, hidden_states):
        query_states = self.q_proj(hidden_states) * self.scaling
        key_states = self.k_proj(hidden_states)
        value_states = self.v_proj(hidden_states)

        attn_weights = torch.bmm(query_states, key_states.transpose(1, 2))
        attn_weights = attn_weights / sqrt(self.hidden_dim)
        attn_probs = nn.functional.softmax(attn_weights, dim=-1)
        return torch.bmm(attn_probs, value_states)
