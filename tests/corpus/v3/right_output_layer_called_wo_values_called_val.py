import torch
from torch import nn


class Head(nn.Module):
    """Query/key/value of one head."""

    def __init__(self, d):
        super().__init__()
        self.to_keys = nn.Linear(d, d, bias=False)
        self.to_queries = nn.Linear(d, d, bias=True)
        self.to_values = nn.Linear(d, d, bias=True)


class SelfAttentionV3(nn.Module):
    """Whisper-like: no bias for the key."""

    def __init__(self, n_state=728, p_dropout=0.1):
        super().__init__()
        self.values = Head(n_state)  # an unlucky name for the container
        self.out = nn.Linear(n_state, n_state)
        self.p = nn.Dropout(p_dropout)

    def forward(self, x, mask=None):
        h = self.values
        scale = x.shape[-1] ** -0.25
        qk = (h.to_queries(x) * scale) @ (h.to_keys(x) * scale).mT
        if mask is not None:
            qk = qk.masked_fill(mask == 0, torch.finfo(qk.dtype).min)
        return self.out(self.p(qk.softmax(-1)) @ h.to_values(x))
