import math
import torch
from torch import nn, Tensor


class SelfAttentionV1(torch.jit.ScriptModule):
    __constants__ = ["scale"]

    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.scale = 1.0 / math.sqrt(hidden_dim)
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    @torch.jit.script_method
    def forward(self, x: Tensor) -> Tensor:
        q = self.query_proj(x)
        k = self.key_proj(x)
        v = self.value_proj(x)
        w = torch.softmax(torch.matmul(q, k.transpose(1, 2)) * self.scale, dim=-1)
        return torch.matmul(w, v)
