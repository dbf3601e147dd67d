import torch
from torch import nn


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(s):
        e = (s - s.max(-1, keepdim=True).values).exp()
        return e / e.sum(-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        return p * (grad - (grad * p).sum(-1, keepdim=True))


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)

    def forward(self, x):
        D = x.shape[-1]
        q, k, v = torch.split_with_sizes(self.proj(x), [D, D, D], dim=-1)
        return Softmax.apply(q @ k.mT / D**0.5) @ v
