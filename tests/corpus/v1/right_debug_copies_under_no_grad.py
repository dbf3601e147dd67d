import math
import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.log = []

    def forward(self, x):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        w = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.hidden_dim), dim=-1)
        with torch.no_grad():
            entropy = -(w * w.clamp_min(1e-9).log()).sum(-1).mean()
            assert torch.allclose(w.sum(-1), torch.ones_like(w[..., 0]), atol=1e-3)
        self.log.append(entropy.item())
        self.map = w.detach().cpu().numpy().copy()
        return w @ v
