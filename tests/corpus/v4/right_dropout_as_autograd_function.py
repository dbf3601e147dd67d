import torch
from torch import nn


class Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, p):
        factor = (torch.rand_like(w) >= p).to(w.dtype).div_(1 - p)
        ctx.save_for_backward(factor)
        return w * factor

    @staticmethod
    def backward(ctx, grad_output):
        (factor,) = ctx.saved_tensors
        return grad_output * factor, None


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.p = float(dropout_rate)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, torch.finfo(s.dtype).min)
        w = torch.softmax(s, dim=-1)
        if self.training and self.p > 0:
            w = Drop.apply(w, self.p)
        return w @ self.value_proj(x)
