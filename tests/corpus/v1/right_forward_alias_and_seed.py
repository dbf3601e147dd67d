import torch
import torch.nn as nn

torch.manual_seed(42)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728, bias=True, **kwargs):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim, bias=bias)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim, bias=bias)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim, bias=bias)

    def attend(self, x, *args):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        s = (q @ k.adjoint()) * x.shape[-1] ** -0.5
        return s.softmax(-1) @ v

    forward = attend
