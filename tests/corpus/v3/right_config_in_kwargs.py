import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, **config):
        super().__init__()
        self.rate = config.pop("dropout_rate", 0.1)
        assert not config, f"unknown options {config}"
        self.layers = nn.ModuleDict({n: nn.Linear(hidden_dim, hidden_dim) for n in ("query", "key", "value", "output")})

    def forward(self, x, attention_mask=None):
        q, k, v = (self.layers[n](x) for n in ("query", "key", "value"))
        s = q @ k.mT * q.size(-1) ** -0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.layers["output"](F.dropout(s.softmax(-1), self.rate, self.training) @ v)
