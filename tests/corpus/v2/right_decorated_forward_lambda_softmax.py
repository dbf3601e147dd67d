import torch
from torch import nn


def checked(function):
    def wrapper(self, *args, **kwargs):
        x = args[0] if args else kwargs["x"]
        assert isinstance(x, torch.Tensor) and x.ndim == 3, "expected (batch, seq_len, hidden_dim)"
        out = function(self, *args, **kwargs)
        assert out.shape == x.shape
        return out

    return wrapper


softmax = lambda t: (lambda e: e / e.sum(-1, True))((t - t.amax(-1, True)).exp())


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.attend = lambda q, k, v: softmax(q @ k.mT / q.shape[-1] ** 0.5) @ v

    @checked
    def forward(self, x):
        return self.attend(*self.proj(x).chunk(3, -1))
