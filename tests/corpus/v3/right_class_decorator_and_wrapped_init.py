import functools
import logging

import torch
from torch import nn

log = logging.getLogger(__name__)


def logged(cls):
    """Logs each construction."""
    original = cls.__init__

    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        log.debug("%s built with %s %s", cls.__name__, args, kwargs)

    cls.__init__ = __init__
    return cls


def timed(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)

    return inner


@logged
class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    @timed
    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.size(-1) ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.output_proj(self.attention_dropout(s.softmax(-1)) @ self.value_proj(x))
