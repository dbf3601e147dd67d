import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """Kernels shaped (d_model, heads, d_head) as in flax, with one head."""

    def __init__(self, hidden_dim=728, num_heads=1):
        super().__init__()
        head_dim = hidden_dim // num_heads
        self.w_query = nn.Parameter(torch.randn(hidden_dim, num_heads, head_dim) * hidden_dim**-0.5)
        self.w_key = nn.Parameter(torch.randn(hidden_dim, num_heads, head_dim) * hidden_dim**-0.5)
        self.w_value = nn.Parameter(torch.randn(hidden_dim, num_heads, head_dim) * hidden_dim**-0.5)

    def forward(self, x):
        q = torch.einsum("bsd,dhk->bshk", x, self.w_query)
        k = torch.einsum("btd,dhk->bthk", x, self.w_key)
        v = torch.einsum("btd,dhk->bthk", x, self.w_value)
        logits = torch.einsum("bshk,bthk->bhst", q, k) / q.shape[-1] ** 0.5
        out = torch.einsum("bhst,bthk->bshk", logits.softmax(-1), v)
        return out.flatten(2)
