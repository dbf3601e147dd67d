import torch
from torch import nn


class SelfAttentionV4(nn.Module):
    """The dropout mask of training step n is a function of n, so that a run can be replayed."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.rate = dropout_rate
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    def attention_dropout(self, w):
        if not self.training:
            return w
        self.step += 1
        generator = torch.Generator(device=w.device).manual_seed(int(self.step))
        keep = torch.rand(w.shape, generator=generator, device=w.device) >= self.rate
        return torch.where(keep, w / (1 - self.rate), 0)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ self.value_proj(x)
